import type http from 'node:http';
import { expect } from 'vitest';
import { startReceiver, type Receiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { requestsWith, type Json } from '#test/core/integrations/tools/support.ts';
import { fallDue } from '#test/support/given.ts';

/** A page that a gate watches. A test changes its content. */
export interface WatchedPage extends Receiver {
  /** Content of the page: a text, or a value that is sent as JSON. */
  body: unknown;
  /** Entity tag of the content. A request with this tag gets 304. */
  etag: string | undefined;
  /** Answers in place of the page. */
  instead: http.RequestListener | undefined;
}

export async function startPage(body: unknown): Promise<WatchedPage> {
  const page: Pick<WatchedPage, 'body' | 'etag' | 'instead'> = {
    body,
    etag: undefined,
    instead: undefined,
  };
  const receiver = await startReceiver((request, response) => {
    if (page.instead !== undefined) return page.instead(request, response);
    const { etag } = page;
    if (etag !== undefined) response.setHeader('etag', etag);
    if (etag !== undefined && request.headers['if-none-match'] === etag) {
      return response.writeHead(304).end();
    }
    return response.end(typeof page.body === 'string' ? page.body : JSON.stringify(page.body));
  });
  return Object.assign(page, receiver);
}

/** Makes the next occurrence of an active routine due and claims it; returns the id of its run. */
export async function claimNext(service: Service, key: ApiClient, routineId: string): Promise<string> {
  const { admission } = service.deps;
  await fallDue(service, routineId);
  await admission.admit();
  const { data } = await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`);
  return data[0].id;
}

/** Claims the next occurrence and waits for the end of its run. */
export async function scheduledRun(service: Service, key: ApiClient, routineId: string): Promise<Json> {
  return runEnded(key, await claimNext(service, key, routineId));
}

/** Runs a draft once by hand and activates it. */
export async function activate(key: ApiClient, routineId: string): Promise<Json> {
  const proof = await runOnce(key, routineId);
  expect(proof).toMatchObject({ state: 'succeeded' });
  const { status, body } = await key.post(`/v1/routines/${routineId}/activate`);
  expect([status, body.error]).toEqual([200, undefined]);
  return proof;
}

/** Lists the scheduled runs of a routine, newest first. */
export async function scheduledRuns(key: ApiClient, routineId: string): Promise<Json[]> {
  return (await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
}

/** Makes each model call that contains the mark respond with this text. */
export function says(service: Service, mark: string, text: string): void {
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
}

/** Counts the model calls that contain the mark. */
export function modelCalls(service: Service, mark: string): number {
  return requestsWith(service, mark).length;
}

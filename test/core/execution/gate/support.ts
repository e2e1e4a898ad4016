import type http from 'node:http';
import { expect } from 'vitest';
import { startReceiver, type Receiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { requestsWith, type Json } from '#test/core/integrations/tools/support.ts';
import { fallDue } from '#test/support/given.ts';

/** A page that a gate watches; a test changes what it says. */
export interface WatchedPage extends Receiver {
  /** JSON, unless it is a text. */
  body: unknown;
  /** Entity tag sent with the body; a request that carries it gets 304. */
  etag: string | undefined;
  /** Takes the place of the page. */
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

/** Has the next occurrence of an active routine claimed, and gives the id of its run. */
export async function claimNext(service: Service, key: ApiClient, routineId: string): Promise<string> {
  const { admission } = service.deps;
  await fallDue(service, routineId);
  await admission.admit();
  const { data } = await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`);
  return data[0].id;
}

/** The same, and waits for the end of the run. */
export async function scheduledRun(service: Service, key: ApiClient, routineId: string): Promise<Json> {
  return runEnded(key, await claimNext(service, key, routineId));
}

/** Proves a draft by hand and activates it. */
export async function activate(key: ApiClient, routineId: string): Promise<Json> {
  const proof = await runOnce(key, routineId);
  expect(proof).toMatchObject({ state: 'succeeded' });
  const { status, body } = await key.post(`/v1/routines/${routineId}/activate`);
  expect([status, body.error]).toEqual([200, undefined]);
  return proof;
}

/** The scheduled runs of a routine, newest first. */
export async function scheduledRuns(key: ApiClient, routineId: string): Promise<Json[]> {
  return (await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
}

/** Makes each model call that holds the text say this. */
export function says(service: Service, mark: string, text: string): void {
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
}

/** Counts the model calls that hold the text. */
export function modelCalls(service: Service, mark: string): number {
  return requestsWith(service, mark).length;
}

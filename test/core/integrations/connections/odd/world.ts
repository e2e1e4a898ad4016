import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import type { Answers } from '#dev/fakes/odd-authorization-server/answers.ts';
import { startOddServer, type OddServer } from '#dev/fakes/odd-authorization-server/server.ts';
import { ageCounts } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { startEverythingServer, type EverythingServer } from '#test/core/integrations/tools/everything-server.ts';
import { confirm, marker, scriptCalls, type Json } from '#test/core/integrations/tools/support.ts';
import { comeBack, returnFrom, UI_ORIGIN } from '#test/core/integrations/connections/sign-in-fixture.ts';

/** The service with a worker and one of its persons, both set by `useOddWorld`. */
export let service: Service;
export let person: Person;
let everything: EverythingServer;

/** Gives the tests of a file a service, and a tool server behind all odd servers. */
export function useOddWorld(env: Record<string, string> = {}): void {
  beforeAll(async () => {
    [service, everything] = await Promise.all([
      startService({ worker: true, env: { UI_ORIGIN, ...env } }),
      startEverythingServer(),
    ]);
    person = await signUp(service);
  });
  afterAll(async () => {
    await service?.close();
    await everything?.stop();
  });
  beforeEach(() => ageCounts(service.deps.database, 'sign-in-start', '1 hour'));
}

/** Starts an odd server for one test. */
export async function oddServer(answers: Answers): Promise<OddServer> {
  const server = await startOddServer(answers, everything.url);
  onTestFinished(() => server.stop());
  return server;
}

/** Signs in, and returns the last response: that of the callback, or of the start if it refuses. */
export async function signInAt({ url }: OddServer, body: object = {}, session = person.session): Promise<Json> {
  const started = await session.post('/v1/connections/oauth/tool-server/start', { url, ...body });
  if (started.status !== 200) return started;
  return comeBack(session, await returnFrom(started.data.authorizationUrl));
}

/** Starts an odd server, and signs in there. */
export async function connectedTo(answers: Answers): Promise<{ server: OddServer; id: string }> {
  const server = await oddServer(answers);
  const { status, data, body } = await signInAt(server);
  expect([status, body.error]).toEqual([200, undefined]);
  return { server, id: data.id };
}

export function discover(routineId: string, connectionId: string, session = person.session) {
  return session.post(`/v1/routines/${routineId}/connections/${connectionId}/discover`);
}

/** Makes a routine that may call `echo` of the connection, and a run with one call for each message. */
export async function routineOn(connectionId: string, fields: object = {}) {
  const mark = marker();
  const routineId = await createRoutine(person.session, { instructions: mark, ...fields });
  const { status, data, body } = await discover(routineId, connectionId);
  expect([status, body.error]).toEqual([200, undefined]);
  await confirm(person.session, { routineId, connectionId, tools: data.tools }, ['echo']);
  const script = (...messages: string[]) => {
    for (const message of messages) scriptCalls(service, mark, { name: 'echo', arguments: { message } });
  };
  const run = (...messages: string[]) => {
    script(...(messages.length === 0 ? ['hello'] : messages));
    return runOnce(person.session, routineId);
  };
  return { routineId, mark, script, run };
}

/** Returns the error of a connection; `ready` if it has none. */
export async function publicError(connectionId: string): Promise<string> {
  const { data } = await person.session.get('/v1/connections');
  const { state, error } = data.find(({ id }: Json) => id === connectionId);
  return state === 'ready' ? state : error.code;
}

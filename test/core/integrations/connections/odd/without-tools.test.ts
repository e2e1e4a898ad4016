import { expect, test } from 'vitest';
import { createTickParts } from '#core/scheduling/index.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { changeRoutines, giveRole } from '#test/support/given.ts';
import { signUp } from '#test/support/people.ts';
import { runEnded } from '#test/support/routines.ts';
import { requestsWith, toolSteps, type Json } from '#test/core/integrations/tools/support.ts';
import { expireIn } from '#test/core/integrations/connections/sign-in-fixture.ts';
import { connectedTo, oddServer, person, publicError, routineOn, service, signInAt, useOddWorld } from './world.ts';

useOddWorld();

const LACKING = { state: 'succeeded', reason: null, outcome: 'partial', warnings: ['tools_failed'] };
const EVERYTHING = { mail: { on: ['failed', 'partial', 'recovered'], to: 'owners' } };

/** Connects to a server that accepts its first token only, so that calls fail once that token has expired. */
function connectedToStrict() {
  return connectedTo({ refusesRenewed: true });
}

function finish(outcome: string) {
  return { name: 'finish', arguments: { outcome, summary: 'All pages were read.' } };
}

test('a run whose calls all failed is partial, and says so in its detail, its webhook, attention and mail', async () => {
  const receiver = await startReceiver((_, response) => response.end());
  const { id } = await connectedToStrict();
  const { routineId, run } = await routineOn(id, {
    webhookUrl: `${receiver.origin}/hook`,
    notifications: { ...EVERYTHING, successPingUrl: `${receiver.origin}/ping` },
  });
  await expireIn(service, id, -5);
  const ended = await run();
  expect(ended).toMatchObject(LACKING);
  expect(toolSteps(ended)).toMatchObject([{ state: 'failed' }]);
  await expect.poll(() => receiver.received.map(({ path }) => path)).toContain('/hook');
  const event: Json = JSON.parse(receiver.received.find(({ path }) => path === '/hook')?.body ?? '{}');
  expect([event.type, event.data]).toMatchObject(['run.succeeded', LACKING]);
  const attention = (await person.session.get('/v1/attention')).data;
  expect(attention.withoutTools).toMatchObject([{ routineId, runId: ended.id }]);
  expect(attention.signIns).toMatchObject([{ kind: 'connection', id }]);
  // The monitor gets no ping of a success.
  const told = async () => (await person.session.get(`/v1/runs/${ended.id}`)).data.notifications;
  await expect.poll(async () => (await told()).map(({ kind }: Json) => kind)).toEqual(['partial']);
});

test('a run that states that its work is done is partial all the same', async () => {
  const { id } = await connectedToStrict();
  const { mark, run } = await routineOn(id, { outcome: 'required' });
  await expireIn(service, id, -5);
  const started = run();
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls: [finish('done')] } });
  expect(await started).toMatchObject({ ...LACKING, outcomeSummary: 'All pages were read.' });
});

test('it proves nothing: the routine is activated after a run that had its tools', async () => {
  const { server, id } = await connectedToStrict();
  const { routineId, run } = await routineOn(id);
  await expireIn(service, id, -5);
  expect(await run()).toMatchObject(LACKING);
  const activation = async () => (await person.session.get(`/v1/routines/${routineId}`)).data.activation;
  expect(await activation()).toEqual({ ready: false, proofRunId: null, reason: 'successful_run_required' });
  const refused = await person.session.post(`/v1/routines/${routineId}/activate`);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'successful_run_required']);
  expect((await signInAt(server, { url: undefined, connectionId: id })).data.state).toBe('ready');
  const whole = await run();
  expect(whole).toMatchObject({ outcome: 'done', warnings: [] });
  expect(await activation()).toMatchObject({ ready: true, proofRunId: whole.id });
  expect((await person.session.post(`/v1/routines/${routineId}/activate`)).status).toBe(200);
});

test('by schedule it neither clears the failures in a row nor counts as one', async () => {
  const { id } = await connectedToStrict();
  const { routineId, script, run } = await routineOn(id);
  expect(await run()).toMatchObject({ outcome: 'done' });
  expect((await person.session.post(`/v1/routines/${routineId}/activate`)).status).toBe(200);
  const { database } = service.deps;
  await changeRoutines(database, routineId, { consecutiveFailures: 2, nextRunAt: new Date() });
  await expireIn(service, id, -5);
  script('hello');
  await createTickParts(service.deps).claim(new AbortController().signal);
  const [scheduled] = (await person.session.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
  expect(await runEnded(person.session, scheduled.id)).toMatchObject(LACKING);
  const [row] = await database.rows`select consecutive_failures from routines where id = ${routineId}`;
  expect(row).toEqual({ consecutive_failures: 2 });
});

test('one call that brought something is enough, and calls of the service itself do not count', async () => {
  const { id } = await connectedTo({});
  const { run } = await routineOn(id, { builtInTools: ['calculate'] });
  expect(await run('one', 'two')).toMatchObject({ state: 'succeeded', outcome: 'done', warnings: [] });
});

test('of two connections each has to bring something', async () => {
  const works = await connectedTo({});
  const dead = await connectedToStrict();
  const { routineId, mark, run } = await routineOn(works.id);
  const { data } = await person.session.post(`/v1/routines/${routineId}/connections/${dead.id}/discover`);
  const other = data.tools.find(({ name }: Json) => name === 'get-sum');
  const path = `/v1/routines/${routineId}/tools/${other.id}`;
  expect((await person.session.patch(path, { confirmAutomaticExecution: true })).status).toBe(200);
  await expireIn(service, dead.id, -5);
  const started = run('hello');
  const call = { name: 'get-sum', arguments: { a: 1, b: 2 } };
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls: [call] } });
  const ended = await started;
  expect(toolSteps(ended).map(({ state }) => state)).toEqual(['succeeded', 'failed']);
  expect(ended).toMatchObject(LACKING);
});

test.for([
  ['a member who is removed', 'member'],
  ['an owner who leaves', 'owner'],
] as const)('%s in mid-run takes the tools of their sign-in with them, and nothing else', async ([, role]) => {
  const leaver = await signUp(service);
  await giveRole(service.deps.database, person.organizationId, leaver.userId, role);
  const session = leaver.session.with({ 'X-Project-Id': person.projectId });
  const { data } = await signInAt(await oddServer({}), {}, session);
  const { routineId, mark, script } = await routineOn(data.id);
  const release = service.gateway.control.hold({ marker: mark, behaviour: { kind: 'tool-calls', calls: [HELLO] } });
  const { data: run } = await person.session.post(`/v1/routines/${routineId}/run`);
  await expect.poll(() => requestsWith(service, mark)).toHaveLength(1);
  script('again');
  const member = `/v1/organizations/${person.organizationId}/members/${leaver.userId}`;
  const left = await (role === 'owner' ? leaver.session : person.session).delete(member);
  expect(left.data.connections).toMatchObject([{ id: data.id }]);
  release();
  const ended = await runEnded(person.session, run.id);
  expect(ended).toMatchObject(LACKING);
  expect(toolSteps(ended).map(({ state }) => state)).toEqual(['failed', 'failed']);
  expect(await publicError(data.id)).toBe('person_left');
  const attention = (await person.session.get('/v1/attention')).data;
  expect(attention.signIns).toContainEqual(expect.objectContaining({ kind: 'connection', id: data.id }));
  const again = await person.session.post(`/v1/routines/${routineId}/run`);
  expect(await runEnded(person.session, again.data.id)).toMatchObject({ reason: 'blocked_connection', stepCount: 0 });
});

const HELLO = { name: 'echo', arguments: { message: 'hello' } };

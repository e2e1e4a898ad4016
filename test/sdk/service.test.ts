import { expect } from 'vitest';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { ApiClient } from '#test/support/client.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionError,
  PreconditionFailedError,
  Ras,
  type RasOptions,
  webhooks,
  WebhookVerificationError,
} from '../../sdk/src/index.ts';
import { collected } from './scripted.ts';

const test = serviceTest({ worker: true }).extend('ras', ({ key }) => client(key));

/** Makes a client with a caller's key. */
function client({ baseUrl, headers }: ApiClient, options: RasOptions = {}): Ras {
  const apiKey = headers['Authorization']?.replace('Bearer ', '');
  return new Ras({ apiKey, baseUrl, ...options });
}

const ROUTINE = {
  name: 'Report',
  instructions: 'Write one line.',
  schedule: '0 7 * * *',
  model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
} as const;

test('a routine is created, run to its end, activated, changed and archived', async ({ ras }) => {
  const { id } = await ras.routines.create(ROUTINE);
  const run = await ras.routines.run(id, { variables: {}, wait: true });
  expect(run).toMatchObject({ state: 'succeeded', routineId: id, outcome: 'done' });
  expect(run.steps).toHaveLength(1);
  expect(await ras.routines.activate(id)).toMatchObject({ state: 'active' });
  const { etag } = await ras.routines.read(id).withResponse();
  await ras.routines.update(id, { name: 'Weekly report' }, { ifMatch: etag });
  await expect(ras.routines.update(id, { name: 'Other' }, { ifMatch: etag })).rejects.toBeInstanceOf(
    PreconditionFailedError,
  );
  expect(await ras.routines.archive(id)).toMatchObject({
    name: 'Weekly report',
    state: 'archived',
  });
  await expect(ras.routines.activate(id)).rejects.toMatchObject({ code: 'routine_archived' });
});

test('a routine and a skill are put under a key, unless they are there already', async ({ ras }) => {
  const skill = { name: 'House style', instructions: 'Keep sentences short, please.' };
  const { id } = await ras.skills.put('style', { ...skill, managedBy: 'files' });
  const { data, etag } = await ras.routines.put('weekly', { ...ROUTINE, skills: [String(id)] }).withResponse();
  expect(data).toMatchObject({ externalKey: 'weekly', skills: [id] });
  await ras.routines.put('weekly', ROUTINE, { ifMatch: etag });
  for (const put of [
    () => ras.routines.put('weekly', ROUTINE, { ifMatch: etag }),
    () => ras.routines.put('weekly', ROUTINE, { ifNoneMatch: '*' }),
    () => ras.skills.put('style', skill, { ifNoneMatch: '*' }),
  ]) {
    await expect(put()).rejects.toBeInstanceOf(PreconditionFailedError);
  }
  expect(await ras.routines.list({ externalKey: 'weekly' }).toArray({ limit: 9 })).toHaveLength(1);
});

test('a read waits for the end of a run', async ({ ras }) => {
  const { id: routineId } = await ras.routines.create(ROUTINE);
  const { id } = await ras.routines.run(routineId);
  const run = await ras.runs.read(id, { waitSeconds: 50, timeoutMs: 10_000 });
  expect(run.state).toBe('succeeded');
});

test('a list gives its items page after page, newest first', async ({ ada }) => {
  const ras = client(await ada.key());
  const created = [];
  for (const letter of 'abcde') {
    created.push(await ras.skills.create({ name: letter, instructions: 'Add what is there to add.' }));
  }
  const listed = await ras.skills.list({ limit: 2 }).toArray({ limit: 5 });
  expect(listed.map(({ id }) => id)).toEqual(created.map(({ id }) => id).toReversed());
  const all = await collected(ras.skills.list({ limit: 2 }));
  expect(all).toEqual(await collected(ras.skills.list({ limit: 200 })));
  expect(new Set(all.map(({ id, slug }) => id ?? slug)).size).toBe(all.length);
});

test('a run is followed through a cut of the connection, from its beginning to its end', async ({ service, key }) => {
  const proxy = await startTcpProxy(new URL(service.url).host);
  const ras = client(key, { baseUrl: `http://${proxy.address}` });
  const release = service.gateway.control.hold();
  const { id } = await ras.routines.create(ROUTINE);
  const run = await ras.routines.run(id);
  const names: string[] = [];
  for await (const { event, data } of ras.runs.follow(run.id)) {
    names.push(event === 'state' ? data.state : `step ${data.index}`);
    if (names.at(-1) !== 'running') continue;
    await proxy.cut();
    release();
    await expect.poll(() => client(key).runs.read(run.id)).toMatchObject({ state: 'succeeded' });
    await proxy.mend();
  }
  await proxy.close();
  expect(names.filter((name) => name !== 'queued')).toEqual(['running', 'step 0', 'succeeded']);
});

test('errors of the service are of their kinds', async ({ ras, ada, bob, bobsKey }) => {
  const { id } = await ras.routines.create(ROUTINE);
  await expect(client(bobsKey).routines.read(id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(ras.routines.create({ ...ROUTINE, schedule: 'soon' })).rejects.toBeInstanceOf(BadRequestError);
  await expect(ras.routines.activate(id)).rejects.toMatchObject({
    code: 'successful_run_required',
    name: ConflictError.name,
    requestId: expect.any(String),
  });
  const reader = client(await ada.key(['routines:read']));
  await expect(reader.runs.list().page()).rejects.toBeInstanceOf(PermissionError);
  const stranger = client(await bob.key(), { apiKey: 'ras_unknown' });
  await expect(stranger.models.list()).rejects.toBeInstanceOf(AuthenticationError);
});

test('webhooks that the service sends are verified, also between two secrets', async ({ ras }) => {
  const receiver = await startReceiver((_, response) => response.writeHead(204).end());
  const webhookUrl = `${receiver.origin}/hook`;
  const { id, webhookSecret: first } = await ras.routines.create({ ...ROUTINE, webhookUrl });
  await ras.routines.run(id, { wait: true });
  await expect.poll(() => receiver.received.length).toBe(1);
  const { webhookSecret: second } = await ras.routines.rotateWebhookSecret(id);
  await ras.routines.run(id, { wait: true });
  await expect.poll(() => receiver.received.length).toBe(2);
  const [before, after] = receiver.received;
  if (before === undefined || after === undefined || !first || !second) throw new Error('not sent');

  const event = webhooks.verify(before.body, before.headers, first);
  expect(event).toMatchObject({ type: 'run.succeeded', data: { routineId: id } });
  if (event.type === 'run.succeeded') expect(event.data.usage.totalTokens).toBeGreaterThan(0);
  for (const secret of [first, second]) {
    expect(ras.webhooks.verify(after.body, after.headers, secret).type).toBe('run.succeeded');
  }
  const verify = (secret: string) => webhooks.verify(before.body, before.headers, secret);
  expect(() => verify(second)).toThrow(WebhookVerificationError);
  expect(webhooks.verify(Buffer.from(before.body), new Headers(sent(before.headers)), [second, first])).toEqual(event);
});

/** Returns the headers as a server of `fetch` gets them. */
function sent(headers: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, String(value)]);
}

import { expect } from 'vitest';
import { claimWork } from '#core/foundation/work/index.ts';
import { chatKind } from '#core/delivery/chats/index.ts';
import { ROOMS, type Kind } from '#dev/fakes/chats/server.ts';
import type { ApiClient } from '#test/support/client.ts';
import { activeRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { ifAny, removeWork } from '#test/support/given.ts';
import { holdingRoutine, runAsking } from '#test/core/execution/actions/support.ts';
import { startTracker } from '#test/core/execution/actions/tracker.ts';
import { marker, scriptCalls } from '#test/core/integrations/tools/support.ts';
import { failedRun, makeDue, newsTo, sendNow } from '../notifications/fixture.ts';
import { addChat, chatTest } from './fixture.ts';

const test = chatTest();

test.afterEach(async ({ chats, service }) => {
  // A waiting message would use up the reply of the next test.
  await removeWork(service.deps.database, ifAny({ kind: 'chat' }));
  chats.reset();
  service.gateway.control.reset();
});

/** Runs a routine whose results go to a chat, and sends the waiting messages. */
async function delivered(service: Service, key: ApiClient, kind: Kind = 'slack', fields: Record<string, unknown> = {}) {
  const chatId = await addChat(key, kind);
  const routineId = await activeRoutine(key, { resultsTo: { chats: [chatId] }, ...fields });
  await sendNow(service);
  const { id } = await runOnce(key, routineId);
  await sendNow(service);
  return { chatId, routineId, runId: id as string, delivery: await deliveryOf(key, id) };
}

async function deliveryOf(key: ApiClient, runId: string) {
  return (await key.get(`/v1/runs/${runId}`)).data.chatDeliveries[0];
}

test('a result arrives in each of the four chats, with a link to it', async ({ service, chats, person }) => {
  const key = await (await person()).key();
  for (const kind of Object.keys(ROOMS) as Kind[]) {
    const { runId, delivery } = await delivered(service, key, kind);
    expect(delivery).toMatchObject({
      state: 'delivered',
      kind,
      chatName: '#results',
      attempts: [{ index: 1, error: null }],
    });
    const posted = chats.posted.filter((each) => each.kind === kind);
    expect(posted).toHaveLength(1);
    expect(JSON.stringify(posted)).toContain(`/runs/${runId}`);
  }
});

test('a result that is only data is posted in words', async ({ service, chats, person }) => {
  const key = await (await person()).key();
  await delivered(service, key, 'slack', {
    instructions: 'List the teas.\nDATA {"items": [{"id": "oolong", "price": 4}]}',
    resultSchema: { type: 'object', properties: { items: { type: 'array', items: { type: 'object' } } } },
  });
  const posted = JSON.stringify(chats.posted);
  expect(posted).toContain('id oolong, price 4');
  expect(posted).not.toContain('items');
});

test('a result of a run that asked a question says so in the chat, without the question', async ({
  service,
  chats,
  person,
}) => {
  const key = await (await person()).key();
  const chatId = await addChat(key);
  const mark = marker();
  const fields = { instructions: mark, mayAsk: true, resultsTo: { chats: [chatId] } };
  const routineId = await activeRoutine(key, fields);
  await sendNow(service);
  scriptCalls(service, mark, { name: 'ask', arguments: { question: 'Which market is next?' } });
  await runOnce(key, routineId);
  await sendNow(service);
  const posted = JSON.stringify(chats.posted);
  expect(posted).toContain('It asks a question');
  expect(posted).not.toContain('Which market is next?');
});

test('a run whose calls wait for a person says so in the chat, without the calls, also where its result is no news', async ({
  service,
  chats,
  person,
}) => {
  const key = await (await person()).key();
  const tracker = await startTracker();
  const routine = { resultsTo: { chats: [await addChat(key)], when: 'changed' }, resultSchema: { type: 'object' } };
  const same = { url: tracker.url, routine, instructions: '\nDATA {"price": 4}' };
  const held = await holdingRoutine(key, ['create_issue'], same);
  await runOnce(key, held.routineId);
  expect((await key.post(`/v1/routines/${held.routineId}/activate`)).status).toBe(200);
  const issue = { name: 'create_issue', arguments: { title: 'Secret title' } };
  const { run } = await runAsking({ service, client: key }, held, issue);
  await sendNow(service);
  await tracker.stop();
  expect((await key.get('/v1/results')).data).toMatchObject([{ runId: run.id, kind: 'unchanged' }, {}]);
  const posted = JSON.stringify(chats.posted);
  expect(posted).toContain('Calls wait for approval');
  expect(posted).toContain(`/runs/${run.id}`);
  expect(posted).not.toContain('Secret title');
});

test('a draft tells no chat, and a run that fails tells it', async ({ service, chats, person }) => {
  const key = await (await person()).key();
  const chatId = await addChat(key);
  const routineId = await activeRoutine(key, { resultsTo: { chats: [chatId] } });
  await sendNow(service);
  expect(chats.posted).toEqual([]);
  await failedRun(service, key, routineId);
  await sendNow(service);
  expect(JSON.stringify(chats.posted)).toContain('Failed');
});

test('an error in the body of a 200 is no success, and comes again', async ({ service, chats, person }) => {
  const key = await (await person()).key();
  const chatId = await addChat(key);
  const routineId = await activeRoutine(key, { resultsTo: { chats: [chatId] } });
  const { id } = await runOnce(key, routineId);
  chats.next({ status: 200, body: 'rollup_error' });
  await sendNow(service);
  expect(await deliveryOf(key, id)).toMatchObject({
    state: 'pending',
    attempts: [{ status: 200, error: 'the chat responded with 200: rollup_error', responseExcerpt: 'rollup_error' }],
  });
  await makeDue(service);
  await sendNow(service);
  expect(await deliveryOf(key, id)).toMatchObject({
    state: 'delivered',
    attempts: [{ index: 1 }, { index: 2, error: null }],
  });
});

test('429 waits for as long as the chat asks', async ({ service, chats, person }) => {
  const key = await (await person()).key();
  const chatId = await addChat(key, 'discord');
  const routineId = await activeRoutine(key, { resultsTo: { chats: [chatId] } });
  const { id } = await runOnce(key, routineId);
  chats.next({ status: 429, body: '{"retry_after":7200}', headers: { 'retry-after': '7200' } });
  await sendNow(service);
  const { nextAttemptAt, attempts } = await deliveryOf(key, id);
  expect(attempts[0].error).toBe('the chat responded with 429');
  expect(Date.parse(nextAttemptAt) - Date.parse(attempts[0].startedAt)).toBeGreaterThanOrEqual(7_200_000);
});

test('a redirect is not followed, and a message that the chat cannot take is not sent again', async ({
  service,
  chats,
  person,
}) => {
  const key = await (await person()).key();
  const chatId = await addChat(key);
  const routineId = await activeRoutine(key, { resultsTo: { chats: [chatId] } });
  const { id } = await runOnce(key, routineId);
  chats.next({ status: 302, headers: { location: ROOMS.discord } }, { status: 200, body: 'invalid_payload' });
  await sendNow(service);
  expect(await deliveryOf(key, id)).toMatchObject({ state: 'pending', attempts: [{ status: 302 }] });
  await makeDue(service);
  await sendNow(service);
  expect(await deliveryOf(key, id)).toMatchObject({ state: 'failed', reason: 'message_refused' });
  expect(JSON.stringify(chats.posted)).not.toContain(id);
});

test('a chat that refuses its address for good is stopped, people are told once, and another address mends it', async ({
  service,
  chats,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  chats.close('slack');
  const { chatId, routineId, runId, delivery } = await delivered(service, key);
  expect(delivery).toMatchObject({ state: 'failed', reason: 'chat_gone', attempts: [{ status: 404 }] });
  await sendNow(service);
  const told = async () =>
    (await newsTo(mailbox, owner)).map(({ subject }) => subject).filter((each) => each.includes('no longer reach'));
  expect(await told()).toEqual(['Results no longer reach a chat: #results']);
  expect((await key.get(`/v1/chats/${chatId}`)).data).toMatchObject({ goneReason: 'no_service' });
  const next = await runOnce(key, routineId);
  await sendNow(service);
  expect(await deliveryOf(key, next.id)).toBeUndefined();
  expect(await told()).toHaveLength(1);

  chats.reset();
  const mended = await key.patch(`/v1/chats/${chatId}`, { url: ROOMS.discord });
  expect(mended.data).toMatchObject({ kind: 'discord', host: 'discord.com', goneAt: null });
  const again = await key.post(`/v1/runs/${runId}/chat-deliveries/${delivery.id}/redeliver`);
  expect(again.status).toBe(202);
  await sendNow(service);
  expect(await deliveryOf(key, runId)).toMatchObject({ state: 'delivered', attempts: [{ index: 1 }, { index: 2 }] });
  expect(chats.posted.map(({ kind }) => kind)).toEqual(['discord']);
});

test('a worker that dies after the chat has the message has it sent once more, and the record says so', async ({
  service,
  chats,
  person,
}) => {
  const key = await (await person()).key();
  const chatId = await addChat(key);
  const routineId = await activeRoutine(key, { resultsTo: { chats: [chatId] } });
  await sendNow(service);
  const { id } = await runOnce(key, routineId);
  const { deps } = service;
  await deps.work.idle();
  deps.work.nudge('result');
  await deps.work.idle();
  const [item] = await claimWork(deps.database, 'chat', 1);
  const dead = new Promise<never>(() => undefined);
  const request = async (...[options]: Parameters<typeof deps.outbound.request>) => {
    await deps.outbound.request(options);
    return dead;
  };
  void chatKind({ ...deps, outbound: { ...deps.outbound, request } }).attempt(item!, undefined);
  await expect.poll(() => chats.posted).toHaveLength(1);
  await makeDue(service);
  await sendNow(service);
  await sendNow(service);
  expect(chats.posted).toHaveLength(2);
  expect(await deliveryOf(key, id)).toMatchObject({
    state: 'delivered',
    attempts: [{ error: 'the service broke it off; whether the chat got it is unknown' }, { status: 200, error: null }],
  });
});

test('the address is in no response and sealed in the database; only chats are taken', async ({
  service,
  chats,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const created = await key.post('/v1/chats', { name: '#results', url: ROOMS.slack });
  expect(created.data).toMatchObject({ kind: 'slack', host: 'hooks.slack.com', goneAt: null });
  expect(JSON.stringify([created, await key.get('/v1/chats')])).not.toContain('s3cret');
  const stored = await service.deps.database.rows`select * from chats where id = ${created.data.id}`;
  expect(JSON.stringify(stored)).not.toContain('s3cret');
  for (const url of [
    'https://example.com/hook',
    'https://127.0.0.1/services/T0/B0/x',
    'http://hooks.slack.com/services/T0/B0/x',
  ]) {
    expect((await key.post('/v1/chats', { name: 'x', url })).status).toBe(400);
  }

  const tested = await key.post(`/v1/chats/${created.data.id}/test`);
  expect(tested.data).toMatchObject({ delivered: true, status: 200, error: null });
  chats.next({ status: 200, body: 'no_service' });
  expect((await key.post(`/v1/chats/${created.data.id}/test`)).data).toMatchObject({ delivered: false, status: 200 });
  expect((await key.get(`/v1/chats/${created.data.id}`)).data.goneAt).toBeNull();

  const stranger = await (await person()).key();
  expect((await stranger.get(`/v1/chats/${created.data.id}`)).status).toBe(404);
  expect((await stranger.post(`/v1/chats/${created.data.id}/test`)).status).toBe(404);
  expect((await stranger.delete(`/v1/chats/${created.data.id}`)).status).toBe(404);
  const foreign = await stranger.post('/v1/routines', { resultsTo: { chats: [created.data.id] } });
  expect(foreign.status).toBe(400);
  expect((await key.delete(`/v1/chats/${created.data.id}`)).status).toBe(200);
  expect((await key.get('/v1/chats')).data).toEqual([]);
});

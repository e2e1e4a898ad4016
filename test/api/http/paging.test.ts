import { beforeAll, expect, test } from 'vitest';
import { ROOMS } from '#dev/fakes/chats/server.ts';
import type { Answer, ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine } from '#test/support/routines.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { changeRoutines, changeRuns } from '#test/support/given.ts';

let service: Service;
let person: Person;
let key: ApiClient;
const ids: string[] = [];

beforeAll(async () => {
  service = await sharedService();
  person = await signUp(service);
  key = await person.key();
  for (let index = 0; index < 7; index++) ids.unshift(await createRoutine(key, { name: `${index}` }));
});

test('a list is newest first, in pages that a Link leads through', proves('GET /v1/routines'), async () => {
  const pages = await allPages(key, '/v1/routines?limit=3');
  expect(pages.map((page) => idsIn(page))).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
  expect(pages[0]?.headers.get('link')).toBe(`<${service.url}/v1/routines?limit=3&cursor=${ids[2]}>; rel="next"`);
  expect(pages.at(-1)?.headers.get('link')).toBeNull();
});

test('a page that ends exactly with the list has no next one', async () => {
  const page = await key.get('/v1/routines?limit=7');
  expect([page.data.length, page.headers.get('link')]).toEqual([7, null]);
});

test('the link keeps the filters', async () => {
  const answer = await key.get('/v1/routines?limit=1&state=draft');
  const link = new URL(/<(.*)>/.exec(answer.headers.get('link')!)![1]!);
  expect(Object.fromEntries(link.searchParams)).toMatchObject({ limit: '1', state: 'draft' });
  const since = '2026-01-01T01:00:00.000+01:00';
  for (let index = 0; index < 2; index++) await key.post(`/v1/routines/${ids[6]}/run`);
  const runs = await key.get(`/v1/runs?limit=1&trigger=manual&since=${encodeURIComponent(since)}`);
  const next = new URL(/<(.*)>/.exec(runs.headers.get('link')!)![1]!);
  expect(next.searchParams.get('since')).toBe('2026-01-01T00:00:00.000Z');
  expect((await key.get(`${next.pathname}${next.search}`)).status).toBe(200);
});

test('routines that the service has stopped are found by a filter, however old they are', async () => {
  const owner = await signUp(service);
  const client = await owner.key();
  const made: string[] = [];
  for (const name of ['paused', 'draft', 'by hand', 'archived', 'newer']) {
    made.push(await createRoutine(client, { name }));
  }
  const [paused, draft, byHand, archived, newer] = made;
  const ended = { stateReason: 'schedule_ended' };
  await changeRoutines(service.deps.database, [draft!, archived!], ended);
  await changeRoutines(service.deps.database, paused!, { ...ended, state: 'paused' });
  await client.post(`/v1/routines/${byHand}/pause`);
  await client.delete(`/v1/routines/${archived}`);
  const found = async (query: string) => idsIn(await client.get(`/v1/routines?${query}`));
  expect(await found('stateChangedBy=service')).toEqual([draft, paused]);
  expect(await found('stateChangedBy=service&state=paused&limit=1')).toEqual([paused]);
  expect(await found('stateChangedBy=person')).toEqual([newer, archived, byHand]);
  expect((await client.get('/v1/routines?stateChangedBy=me')).status).toBe(400);
  // The list contains no routine of another project.
  expect(idsIn(await key.get('/v1/routines?stateChangedBy=service'))).toEqual([]);
});

test('routines that send their results on are found by a filter', async () => {
  const owner = await signUp(service);
  const client = await owner.key();
  const url = 'http://127.0.0.1:9999/hook';
  const plain = await createRoutine(client);
  const hook = await createRoutine(client, { webhookUrl: url });
  const ping = await createRoutine(client, { notifications: { successPingUrl: url } });
  const mail = await createRoutine(client, { resultsTo: { when: 'each', mail: 'owners', chats: [] } });
  const found = async (query: string) => idsIn(await client.get(`/v1/routines?${query}`));
  const { data: chat } = await client.post('/v1/chats', { name: 'Room', url: ROOMS.slack });
  const room = await createRoutine(client, { resultsTo: { chats: [chat.id] } });
  expect(await found('sendsResults=true')).toEqual([room, mail, ping, hook]);
  expect(await found('sendsResults=false')).toEqual([plain]);
  expect((await client.get('/v1/routines?sendsResults=yes')).status).toBe(400);
});

test('what is inserted while someone pages neither repeats an item nor hides one', async () => {
  const first = await key.get('/v1/routines?limit=3');
  const added = await createRoutine(key, { name: 'in between' });
  const rest = await allPages(key, nextOf(first)!);
  expect([first, ...rest].flatMap((page) => idsIn(page))).toEqual(ids);
  ids.unshift(added);
});

test.each([
  ['no cursor at all', () => '!!!'],
  ['text', () => 'rtn_nonsense'],
  ['a cursor of another list', () => person.projectId],
  ['a cursor with something behind it', () => `${ids[1]}0`],
  ['a cursor in capitals', () => ids[1]!.toUpperCase()],
  ['SQL', () => "rtn_' or 1=1 --"],
])('%s as the cursor is refused', async (_name, cursor) => {
  const answer = await key.get(`/v1/routines?cursor=${encodeURIComponent(cursor())}`);
  expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  expect(answer.body.error.message).toContain('cursor');
});

test('a cursor of another project shows nothing of that project', async () => {
  const service2 = await signUp(service);
  const other = await service2.key();
  const own = await createRoutine(other);
  const answer = await other.get(`/v1/routines?cursor=${ids[0]}`);
  expect(idsIn(answer).filter((id) => id !== own)).toEqual([]);
});

test(
  'runs are listed by routine and by project, and can be filtered',
  proves('run.lists', 'GET /v1/runs', 'GET /v1/routines/:routineId/runs'),
  async () => {
    const [first, second] = [await createRoutine(key), await createRoutine(key)];
    const run = async (id: string) => (await key.post(`/v1/routines/${id}/run`)).data.id as string;
    const a = await run(first);
    const b = await run(second);
    expect(idsIn(await key.get(`/v1/routines/${first}/runs`))).toEqual([a]);
    expect(idsIn(await key.get('/v1/runs?limit=2'))).toEqual([b, a]);
    expect(idsIn(await key.get('/v1/runs?trigger=schedule'))).toEqual([]);
    expect(idsIn(await key.get('/v1/runs?until=2020-01-01T00:00:00Z'))).toEqual([]);
    expect(idsIn(await key.get(`/v1/routines/${first}/runs?state=succeeded`))).toEqual([]);
    await key.post(`/v1/runs/${a}/cancel`);
    expect(idsIn(await key.get(`/v1/routines/${first}/runs?state=cancelled`))).toEqual([a]);
  },
);

test('lists carry summaries, and the detail has the whole', async () => {
  const id = await createRoutine(key, {
    instructions: 'On {{topic}}.',
    variables: { topic: 'tea' },
  });
  const [listed] = (await key.get('/v1/routines?limit=1')).data;
  const { data: detail } = await key.get(`/v1/routines/${id}`);
  const {
    instructions,
    variables,
    nextRuns,
    activation,
    callableTools,
    warnings,
    gate,
    resultSchema,
    mailDelivery,
    skillsBehind,
    factsBehind,
    proposal,
    ...rest
  } = detail;
  expect([skillsBehind, factsBehind, proposal]).toEqual([[], null, null]);
  expect(listed).toEqual(rest);
  expect([activation.ready, callableTools, warnings]).toEqual([false, [], []]);
  expect([instructions, variables]).toEqual(['On {{topic}}.', { topic: 'tea' }]);
  expect([gate, resultSchema, mailDelivery]).toEqual([null, null, 'unavailable']);
  expect(nextRuns).toHaveLength(5);

  const run = (await key.post(`/v1/routines/${id}/run`, { variables: { topic: 'ships' } })).data;
  const result = `${'\u{1F600}'.repeat(150)}${'x'.repeat(1_000)}`;
  await changeRuns(service.deps.database, run.id, { result });
  for (const path of ['/v1/runs?limit=1', `/v1/routines/${id}/runs`]) {
    const [summary] = (await key.get(path)).data;
    expect(summary).not.toHaveProperty('result');
    expect(summary).not.toHaveProperty('variables');
    expect(summary).toMatchObject({
      id: run.id,
      resultPreview: Array.from(result).slice(0, 200).join(''),
    });
  }
  expect((await key.get(`/v1/runs/${run.id}`)).data).toMatchObject({
    result,
    variables: { topic: 'ships' },
  });

  const skill = { name: 'Faces', instructions: `\u{1F600}\u{10FFFF}\uFFFD ${'x'.repeat(20)}` };
  const { data: created } = await key.post('/v1/skills', skill);
  const [face] = (await key.get('/v1/skills?limit=1')).data;
  expect({ ...face, instructions: skill.instructions, revision: 1, sources: [] }).toEqual(created);
  await key.delete(`/v1/skills/${created.id}`);
});

test('the curated skills stand behind the custom ones, and the limit counts both', async () => {
  const custom: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    custom.unshift((await key.post('/v1/skills', { name, instructions: 'x'.repeat(20) })).data.id);
  }
  const { data: all } = await key.get('/v1/skills?limit=200');
  const named = (skills: { id: string | null; slug: string | null }[]) => skills.map(({ id, slug }) => id ?? slug);
  expect(named(all).slice(0, 3)).toEqual(custom);
  expect(all.slice(3).every((skill: { slug: string }) => skill.slug !== null)).toBe(true);
  const pages = await allPages(key, '/v1/skills?limit=2');
  expect(pages.every(({ data }) => data.length <= 2)).toBe(true);
  expect(named(pages.flatMap(({ data }) => data))).toEqual(named(all));
  const { data: none } = await key.get('/v1/skills?cursor=a-skill-that-is-gone');
  expect(none).toEqual([]);
  expect((await key.get('/v1/skills?cursor=No%20slug')).status).toBe(400);
});

async function allPages(client: ApiClient, path: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const page = await client.get(next);
    expect(page.status).toBe(200);
    pages.push(page);
    next = nextOf(page);
  }
  return pages;
}

function nextOf(page: Answer): string | undefined {
  const link = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  if (link === undefined) return undefined;
  const url = new URL(link);
  return `${url.pathname}${url.search}`;
}

function idsIn(page: Answer): string[] {
  return page.data.map((item: { id: string }) => item.id);
}

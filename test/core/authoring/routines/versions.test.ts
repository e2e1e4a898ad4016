import { expect } from 'vitest';
import { newId } from '#lib/ids.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { changeRoutines, plantRun, plantVersions } from '#test/support/given.ts';

const test = serviceTest({ worker: true });

const START = {
  instructions: 'Write about {{topic}}.',
  variables: { topic: 'tea' },
  skills: ['seo-audit', 'content-strategy'],
};

test('every material change is a version that says what changed and who did it', async ({ ada, key }) => {
  const session = ada.session.with({ 'X-Project-Id': ada.projectId });
  const id = await createRoutine(session, START);
  const versions = `/v1/routines/${id}/versions`;
  await key.patch(`/v1/routines/${id}`, { name: 'Not material', schedule: '@daily' });
  const changes: [string[], Record<string, unknown>][] = [
    [['instructions'], { instructions: 'Write more about {{topic}}.' }],
    [['variables'], { variables: { topic: 'coffee' } }],
    [['overridable'], { overridable: [] }],
    [['model'], { model: { provider: 'gateway', connectionId: null, modelId: 'fixture/free' } }],
    [['skills'], { skills: ['content-strategy', 'seo-audit'] }],
    [['limits'], { limits: { maxTotalTokens: 1_000_000 } }],
    [['limits'], { limits: { maxTotalTokens: null } }],
    [['carryResult'], { carryResult: false }],
    [['facts'], { facts: true }],
    [['builtInTools'], { builtInTools: ['calculate'] }],
    [['outcome'], { outcome: 'required' }],
    [['checks'], { checks: [{ type: 'distinct_sources', atLeast: 2 }] }],
    [['resultSchema'], { resultSchema: { type: 'array' } }],
    [['resultKey'], { resultKey: { list: '', key: '/id' } }],
    [['instructions', 'skills'], { instructions: 'Write.', skills: [] }],
  ];
  for (const [, patch] of changes) {
    expect((await key.patch(`/v1/routines/${id}`, patch)).status).toBe(200);
  }
  const listed = (await key.get(versions)).data;
  expect(listed.map(({ revision }: { revision: number }) => revision)).toEqual([
    16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
  ]);
  expect(listed.map(({ changed }: { changed: string[] }) => changed).toReversed()).toEqual([
    [],
    ...changes.map(([changed]) => changed),
  ]);
  expect(listed[15]).toEqual({
    revision: 1,
    createdAt: expect.any(String),
    createdBy: { kind: 'person', id: ada.userId, name: 'Test Person' },
    restoredFrom: null,
    changed: [],
  });
  expect(listed[0].createdBy).toEqual({
    kind: 'key',
    id: expect.stringMatching(/^key_/),
    name: 'test',
  });

  const first = await key.get(`${versions}/1`);
  expect(first.data).toEqual({
    ...listed[15],
    ...START,
    routineId: id,
    mayComplete: false,
    mayAsk: false,
    afterAnswer: 'wait',
    afterApproval: 'nothing',
    decisionHours: 72,
    mayPutOffHours: null,
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
    limits: {
      maxSteps: 25,
      timeoutSeconds: 900,
      maxTotalTokens: null,
      maxOutputTokens: null,
      maxQueueSeconds: 21_600,
      abnormalFactor: 5,
    },
    overridable: null,
    carryResult: true,
    facts: false,
    builtInTools: [],
    outcome: 'optional',
    checks: [],
    gate: null,
    resultSchema: null,
    resultKey: null,
    tools: [],
  });
  const { data: latest } = await key.get(`${versions}/15`);
  expect(latest).toMatchObject({
    carryResult: false,
    facts: true,
    builtInTools: ['calculate'],
    outcome: 'required',
    checks: [{ type: 'distinct_sources', atLeast: 2 }],
    resultSchema: { type: 'array' },
    resultKey: { list: '', key: '/id' },
  });
});

test('the list of versions has pages', async ({ key, bobsKey }) => {
  const id = await createRoutine(key);
  for (const word of ['two', 'three', 'four', 'five']) {
    await key.patch(`/v1/routines/${id}`, { instructions: word });
  }
  const pages: number[][] = [];
  let path: string | undefined = `/v1/routines/${id}/versions?limit=2`;
  while (path !== undefined) {
    const page = await key.get(path);
    pages.push(page.data.map(({ revision }: { revision: number }) => revision));
    const next = /<([^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
    path = next === undefined ? undefined : new URL(next).pathname + new URL(next).search;
  }
  expect(pages).toEqual([[5, 4], [3, 2], [1]]);
  const refused = await key.get(`/v1/routines/${id}/versions?cursor=${id}`);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
  expect((await bobsKey.get(`/v1/routines/${id}/versions`)).status).toBe(404);
});

test('a restored version is a new revision that has to be proven', async ({ key }) => {
  const id = await activeRoutine(key, START);
  await key.patch(`/v1/routines/${id}`, {
    name: 'Kept',
    instructions: 'Something else.',
    variables: {},
    overridable: [],
    skills: [],
    limits: { maxSteps: 2 },
    carryResult: false,
    builtInTools: ['calculate'],
    outcome: 'required',
    checks: [{ type: 'no_refused_calls' }],
    resultSchema: { type: 'array' },
    resultKey: { list: '', key: '/id' },
  });
  const path = `/v1/routines/${id}/versions/1/restore`;
  const once = key.with({ 'Idempotency-Key': newId('run') });
  const restored = await once.post(path);
  expect(restored.status).toBe(200);
  expect(restored.data).toMatchObject({
    ...START,
    name: 'Kept',
    limits: { maxSteps: 25 },
    carryResult: true,
    builtInTools: [],
    outcome: 'optional',
    checks: [],
    resultSchema: null,
    resultKey: null,
    state: 'draft',
    revision: 3,
  });
  expect(restored.headers.get('etag')).toMatch(/^"\d+"$/);
  const replayed = await once.post(path);
  expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  expect(replayed.data).toEqual(restored.data);

  const { data: version } = await key.get(`/v1/routines/${id}/versions/3`);
  expect(version).toMatchObject({
    ...START,
    restoredFrom: 1,
    changed: [
      'instructions',
      'variables',
      'overridable',
      'skills',
      'limits',
      'carryResult',
      'builtInTools',
      'outcome',
      'checks',
      'resultSchema',
      'resultKey',
    ],
  });
  // The proof of revision 1 is no proof of this revision.
  const refused = await key.post(`/v1/routines/${id}/activate`);
  expect(refused.body.error.code).toBe('successful_run_required');
  expect(await runOnce(key, id)).toMatchObject({ state: 'succeeded', routineRevision: 3 });
  expect((await key.post(`/v1/routines/${id}/activate`)).status).toBe(200);
});

test('restoring the present version changes nothing', async ({ key }) => {
  const id = await activeRoutine(key, START);
  const same = await key.post(`/v1/routines/${id}/versions/1/restore`);
  expect(same).toMatchObject({ status: 200, data: { state: 'active', revision: 1 } });
  expect((await key.get(`/v1/routines/${id}/versions`)).data).toHaveLength(1);
});

test('a version whose skill is gone is not restored, and an archived routine has only its record', async ({ key }) => {
  const skill = await key.post('/v1/skills', { name: 'Tone', instructions: 'x'.repeat(40) });
  const id = await createRoutine(key, { skills: [skill.data.id] });
  await key.patch(`/v1/routines/${id}`, { skills: [] });
  expect((await key.delete(`/v1/skills/${skill.data.id}`)).status).toBe(200);
  const refused = await key.post(`/v1/routines/${id}/versions/1/restore`);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_skill']);

  await key.delete(`/v1/routines/${id}`);
  const archived = await key.post(`/v1/routines/${id}/versions/2/restore`);
  expect([archived.status, archived.body.error.code]).toEqual([409, 'routine_archived']);
  expect((await key.get(`/v1/routines/${id}/versions`)).data).toHaveLength(2);
});

test('versions of another tenant, and revisions that there are not, are 404', async ({ key, bobsKey }) => {
  const id = await createRoutine(key);
  const versions = `/v1/routines/${id}/versions`;
  const codeOf = async (answer: ReturnType<typeof key.get>) => {
    const { status, body } = await answer;
    return [status, body.error.code];
  };
  const routineGone = [404, 'routine_not_found'];
  expect(await codeOf(bobsKey.get(versions))).toEqual(routineGone);
  expect(await codeOf(bobsKey.get(`${versions}/1`))).toEqual(routineGone);
  expect(await codeOf(bobsKey.post(`${versions}/1/restore`))).toEqual(routineGone);
  expect(await codeOf(key.get(`/v1/routines/${newId('routine')}/versions`))).toEqual(routineGone);
  const versionGone = [404, 'version_not_found'];
  for (const revision of ['2', '0', '-1', '1.5', 'latest', '99999999999']) {
    expect(await codeOf(key.get(`${versions}/${revision}`))).toEqual(versionGone);
    expect(await codeOf(key.post(`${versions}/${revision}/restore`))).toEqual(versionGone);
  }
  const reader = await key.get(`${versions}/1`);
  expect(reader.status).toBe(200);
});

test('the detail of a routine says whether it can be activated, with which proof, or why not', async ({ key }) => {
  const id = await createRoutine(key);
  const activation = async () => (await key.get(`/v1/routines/${id}`)).data.activation;
  const unproven = { ready: false, proofRunId: null, reason: 'successful_run_required' };
  expect(await activation()).toEqual(unproven);
  const first = await runOnce(key, id);
  expect(await activation()).toEqual({ ready: true, proofRunId: first.id, reason: null });
  const second = await runOnce(key, id);
  await key.post(`/v1/routines/${id}/activate`);
  expect(await activation()).toEqual({ ready: true, proofRunId: second.id, reason: null });
  await key.patch(`/v1/routines/${id}`, { instructions: 'Other.' });
  expect(await activation()).toEqual(unproven);
  await key.delete(`/v1/routines/${id}`);
  expect(await activation()).toEqual({ ...unproven, reason: 'routine_archived' });
});

test('a full plan is the reason why a proven routine cannot be activated', async ({ service, ada }) => {
  const replica = await service.replica({ BILLING_DEFAULT_PLAN: 'free' });
  try {
    const person = ada.session.with({ 'X-Project-Id': ada.projectId });
    const id = await createRoutine(person);
    const run = await runOnce(person, id);
    for (const _ of [1, 2]) await activeRoutine(person);
    const free = person.with({});
    const detail = await fetch(`${replica.url}/v1/routines/${id}`, { headers: free.headers });
    const { data } = (await detail.json()) as { data: { activation: unknown } };
    expect(data.activation).toEqual({
      ready: false,
      proofRunId: run.id,
      reason: 'allowance_exceeded',
    });
  } finally {
    await replica.close();
  }
});

test('the latest two hundred versions are kept, and those that open runs were made with', async ({ service, key }) => {
  const { database } = service.deps;
  const id = await createRoutine(key);
  await plantVersions(database, id, { from: 2, to: 300 });
  await changeRoutines(database, id, { revision: 300 });
  await plantRun(database, id, { revision: 50, state: 'running', startedAt: new Date() });
  expect((await key.patch(`/v1/routines/${id}`, { instructions: 'Other.' })).status).toBe(200);
  const left =
    await database.row`select count(*) as count, min(revision) as first from routine_versions where routine_id = ${id}`;
  expect(left).toEqual({ count: 201, first: 50 });
  const statusOf = async (revision: number) => (await key.get(`/v1/routines/${id}/versions/${revision}`)).status;
  expect([await statusOf(101), await statusOf(102), await statusOf(301)]).toEqual([404, 200, 200]);
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createAbilityStore, createKnownNames, createModelDirectory } from '#core/models/directory/index.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import { readModelSources, type ModelSource } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import type { ApiClient } from '#test/support/client.ts';
import { sourceAt } from '#test/support/model-caller.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { gatewaysFile, startAnswering } from './support.ts';
import { changeVersions } from '#test/support/given.ts';

const log = createLog({ level: 'silent', name: 'test' });
const KEYS = { FIRST_KEY: 'first-secret-key', SECOND_KEY: 'second-secret-key' };

let first: Gateway;
let second: Gateway;
let awayUrl: string;
let service: Service;
let key: ApiClient;

beforeAll(async () => {
  [first, second] = await Promise.all([newGateway(), newGateway()]);
  awayUrl = `http://127.0.0.1:${await freePort()}/v1`;
  listed(first, [{ id: 'small' }, { id: 'same' }]);
  listed(second, [{ id: 'large' }, { id: 'same' }]);
  service = await startService({ worker: true, env: { ...KEYS, GATEWAYS_FILE: await file() } });
  key = await (await signUp(service)).key();
});
beforeEach(() => {
  for (const [name, gateway] of [
    ['first', first],
    ['second', second],
  ] as const) {
    gateway.control.reset();
    gateway.control.script({ times: null, behaviour: { kind: 'text', text: `From ${name}.` } });
    listed(gateway, [{ id: name === 'first' ? 'small' : 'large' }, { id: 'same' }]);
  }
});
afterAll(async () => {
  await service.close();
  await Promise.all([first.stop(), second.stop()]);
});

function newGateway() {
  return startGateway({ port: 0, log: () => undefined });
}

function listed(gateway: Gateway, models: readonly unknown[]): void {
  const behaviour = { kind: 'list' as const, models: [...models] };
  gateway.control.script({ target: 'models', times: null, behaviour });
}

function file() {
  return gatewaysFile([
    { name: 'first', baseUrl: first.url, apiKeyVariable: 'FIRST_KEY' },
    { name: 'second', baseUrl: second.url, apiKeyVariable: 'SECOND_KEY', prefix: false },
    { name: 'ollama', baseUrl: awayUrl, dialect: 'ollama', free: true },
  ]);
}

function idAndSource({ modelId, source }: { modelId: string; source: string }) {
  return [modelId, source];
}

function on(modelId: string) {
  return { model: { provider: 'gateway', connectionId: null, modelId } };
}

/** Starts an API with another configuration on the same database, as after a deployment. */
async function deployed(sources: readonly object[]) {
  const replica = await service.replica({ ...KEYS, GATEWAYS_FILE: await gatewaysFile(sources) });
  return { client: key.at(replica.url), close: () => replica.close() };
}

test('models of several sources stand together, under the name of their source unless it says otherwise', async () => {
  const { data, headers } = await key.get('/v1/models');
  expect(data.map(idAndSource)).toEqual([
    ['first/small', 'first'],
    ['first/same', 'first'],
    ['large', 'second'],
    ['same', 'second'],
  ]);
  expect(data[0]).toMatchObject({ provider: 'gateway', connectionId: null });
  expect(headers.get('x-models-stale')).toBe('false');
});

test('a source that is away hides nothing of the others, and says what came back', async () => {
  const { status, data } = await key.get('/v1/model-sources');
  expect(status).toBe(200);
  expect(data).toMatchObject([
    { name: 'first', state: 'ready', lastError: null, models: 2, latencyMs: expect.any(Number) },
    { name: 'second', state: 'ready', lastError: null, models: 2 },
    {
      name: 'ollama',
      label: 'Ollama',
      dialect: 'ollama',
      local: true,
      state: 'unavailable',
      lastError: `Ollama at ${awayUrl} refused the connection. Is it running?`,
      models: 0,
      latencyMs: null,
      fetchedAt: null,
    },
  ]);
});

test.each([
  ['first/small', 'first', 'small'],
  ['large', 'second', 'large'],
  ['second/same', 'second', 'same'],
])('a run on %s asks %s for %s, and no other source', async (modelId, name, served) => {
  const run = await runOnce(key, await createRoutine(key, on(modelId)));
  expect(run).toMatchObject({ state: 'succeeded', result: `From ${name}.` });
  const [asked, other] = name === 'first' ? [first, second] : [second, first];
  const call = asked.control.requests().find(({ path }) => path.endsWith('/completions'));
  expect(call?.body).toMatchObject({ model: served });
  expect(other.control.requests().filter(({ path }) => path.endsWith('/completions'))).toEqual([]);
});

test('a routine whose source was removed ends blocked, names the source, and nothing else is asked', async () => {
  const id = await createRoutine(key, on('first/small'));
  await changeVersions(service.deps.database, { routineId: id }, { modelId: 'gone/small' });
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'failed', reason: 'blocked_model' });
  expect(run.errorMessage).toContain('none is called gone');
  for (const gateway of [first, second]) {
    const calls = gateway.control.requests().filter(({ path }) => path.endsWith('/completions'));
    expect(calls).toEqual([]);
  }
});

test('a run on a source that is away fails by its provider and not by its routine', async () => {
  const id = await createRoutine(key, on('first/small'));
  await changeVersions(service.deps.database, { routineId: id }, { modelId: 'ollama/llama' });
  const run = await runOnce(key, id);
  expect(run.reason).toBe('blocked_models_unavailable');
  expect(run.errorMessage).toContain('Ollama');
});

test('after a source was removed its routines are read, and every save says that the model is gone', async () => {
  const id = await createRoutine(key, on('first/small'));
  const { client, close } = await deployed([{ name: 'second', baseUrl: second.url, apiKeyVariable: 'SECOND_KEY' }]);
  try {
    expect((await client.get('/v1/models')).data).toHaveLength(2);
    expect((await client.get(`/v1/routines/${id}`)).data.model.modelId).toBe('first/small');
    expect((await client.get('/v1/routines')).status).toBe(200);
    expect((await client.get(`/v1/routines/${id}/forecast`)).status).toBe(200);
    const preview = await client.post(`/v1/routines/${id}/preview`);
    expect(preview.data.preflight).toMatchObject({ ready: false, reason: 'blocked_model' });
    expect(preview.data.preflight.message).toContain('The model source first is no longer configured');
    const saved = await client.patch(`/v1/routines/${id}`, { name: 'Another name' });
    expect([saved.status, saved.body.error.code]).toEqual([400, 'invalid_model']);
  } finally {
    await close();
  }
});

test('a model that another source has under the same id is not taken for that of a source that is gone', async () => {
  const id = await createRoutine(key, on('first/small'));
  second.control.reset();
  listed(second, [{ id: 'first/small' }, { id: 'large' }]);
  const { client, close } = await deployed([{ name: 'second', baseUrl: second.url, apiKeyVariable: 'SECOND_KEY' }]);
  try {
    const { data } = await client.get('/v1/models');
    expect(data.map(idAndSource)).toEqual([
      ['second/first/small', 'second'],
      ['large', 'second'],
    ]);
    const { data: preview } = await client.post(`/v1/routines/${id}/preview`);
    expect(preview.preflight).toMatchObject({ ready: false, reason: 'blocked_model' });
    const chosen = await client.patch(`/v1/routines/${id}`, on('second/first/small'));
    expect(chosen.status).toBe(200);
  } finally {
    await close();
  }
});

test('with one source left, its models are named with and without it', async () => {
  const { client, close } = await deployed([{ name: 'first', baseUrl: first.url, apiKeyVariable: 'FIRST_KEY' }]);
  try {
    const { data } = await client.get('/v1/models');
    expect(data.map(idAndSource)).toEqual([
      ['small', 'first'],
      ['same', 'first'],
    ]);
    for (const modelId of ['first/small', 'small']) {
      const created = await client.post('/v1/routines', routineBody(on(modelId)));
      expect([created.status, created.data?.model.modelId]).toEqual([201, modelId]);
    }
    const foreign = await client.post('/v1/routines', routineBody(on('second/large')));
    expect(foreign.status).toBe(400);
  } finally {
    await close();
  }
});

test('of two models with one id the first source has it', async () => {
  const { client, close } = await deployed([
    { name: 'first', baseUrl: first.url, apiKeyVariable: 'FIRST_KEY', prefix: false },
    { name: 'second', baseUrl: second.url, apiKeyVariable: 'SECOND_KEY', prefix: false },
  ]);
  try {
    const { data } = await client.get('/v1/models');
    expect(data.map(idAndSource)).toEqual([
      ['small', 'first'],
      ['same', 'first'],
      ['large', 'second'],
    ]);
  } finally {
    await close();
  }
});

test('where no source has ever given a list, 503 names each with what came back, and no key', async () => {
  const refusing = await startAnswering(401, 'Incorrect API key provided: first-secret-key');
  const { client, close } = await deployed([
    { name: 'first', baseUrl: `${refusing}/v1`, apiKeyVariable: 'FIRST_KEY' },
    { name: 'ollama', baseUrl: awayUrl, free: true, dialect: 'ollama' },
  ]);
  try {
    const { status, body } = await client.get('/v1/models');
    expect([status, body.error.code]).toEqual([503, 'models_unavailable']);
    expect(body.error.message).toBe(
      `No list of models has arrived yet. first at ${refusing}/v1 answered 401: the key in FIRST_KEY was refused. ` +
        `Ollama at ${awayUrl} refused the connection. Is it running?`,
    );
    expect((await client.get('/v1/model-sources')).status).toBe(200);
  } finally {
    await close();
  }
});

function directoryOf(source: ModelSource, { showAddresses = true } = {}) {
  const abilities = createAbilityStore({ database: service.deps.database, log });
  return createModelDirectory({
    sources: [source],
    abilities,
    names: createKnownNames(service.deps.database, [source]),
    log,
    showAddresses,
    timeoutMs: 2_000,
  });
}

async function problemOf(source: ModelSource, options?: { showAddresses: boolean }) {
  const [state] = await directoryOf(source, options).sources();
  return state?.lastError;
}

test.each<[string, number, string, string, string]>([
  ['a forgotten /v1', 404, 'not found', '', 'answered 404 to /models: does the address lack /v1?'],
  ['a wrong path', 404, 'not found', '/v1', 'answered 404 to /models. Is the address right?'],
  ['a used-up quota', 429, '{}', '/v1', 'answered 429: too many requests, or a quota that is used up.'],
  ['a server that starts', 503, '{}', '/v1', 'answered 503. It may be starting; it is asked again.'],
  [
    'a page',
    200,
    '<html>',
    '',
    'did not answer with a list of models. Check that the address leads to the API and ends with /v1.',
  ],
  ['an empty list', 200, '{"data":[]}', '/v1', 'lists no model that writes text. Has one been loaded?'],
  ['a redirect', 302, '', '/v1', 'answered with a redirect. Is this the address of the API?'],
])('%s is said with its remedy', async (_what, status, body, path, words) => {
  const origin = await startAnswering(status, body, status === 302 ? { Location: '/login' } : {});
  expect(await problemOf(sourceAt(`${origin}${path}`))).toBe(`The model server at ${origin}${path} ${words}`);
});

test('a host name that does not exist, and a missing key, are said with their remedy', async () => {
  const unknown = await problemOf(sourceAt('http://models.invalid/v1'));
  expect(unknown).toBe(
    'The model server at http://models.invalid/v1 is not known by its host name (models.invalid). Is the address right?',
  );
  const origin = await startAnswering(401, '');
  expect(await problemOf({ ...sourceAt(`${origin}/v1`), apiKey: undefined })).toBe(
    `The model server at ${origin}/v1 answered 401: it wants a key, and none is configured.`,
  );
});

test('in production callers learn no address and no name of a variable', async () => {
  const origin = await startAnswering(401, '');
  const words = await problemOf(sourceAt(`${origin}/v1`), { showAddresses: false });
  expect(words).toBe('The model server answered 401: the key was refused.');
  const [state] = await directoryOf(sourceAt(origin), { showAddresses: false }).sources();
  expect(state?.baseUrl).toBeNull();
});

test('two thousand models with doubled ids are listed once each', async () => {
  const models = Array.from({ length: 2_000 }, (_, index) => ({ id: `vendor/model-${index}` }));
  const gateway = await newGateway();
  listed(gateway, [...models, ...models]);
  const { sources } = readModelSources({ GATEWAY_BASE_URL: gateway.url, GATEWAY_API_KEY: 'x' });
  const directory = directoryOf({ ...sources[0]!, dialect: 'openrouter' });
  expect((await directory.list()).options).toHaveLength(2_000);
  const found = await directory.find({
    provider: 'gateway',
    connectionId: null,
    modelId: 'vendor/model-1999',
  });
  expect(found?.modelId).toBe('vendor/model-1999');
  await gateway.stop();
});

import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findModels, type FindOptions } from '#dev/stack/models/find.ts';
import { freePort } from '#dev/stack/ports.ts';
import { readModelSources } from '#lib/config/index.ts';

const dataDir = mkdtempSync(path.join(tmpdir(), 'ras-models-'));
const file = path.join(dataDir, 'gateways.yaml');
const servers: Server[] = [];
afterEach(async () => {
  for (const made of readdirSync(dataDir)) rmSync(path.join(dataDir, made));
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  servers.length = 0;
});

type Reply = readonly [status: number, body: unknown];

/** Serves these replies by path; a text is sent as HTML. Anything else is 404. */
async function serve(replies: Record<string, Reply>, port?: number): Promise<number> {
  const server = createServer((request, response) => {
    const [status, body] = replies[request.url ?? ''] ?? [404, 'Not found'];
    const isPage = typeof body === 'string';
    response.writeHead(status, {
      'Content-Type': isPage ? 'text/html' : 'application/json',
      Connection: 'close',
    });
    response.end(isPage ? body : JSON.stringify(body));
  });
  servers.push(server);
  const own = port ?? (await freePort());
  server.listen(own, '127.0.0.1');
  await once(server, 'listening');
  return own;
}

function list(owner: string, ...ids: string[]): Reply {
  const data = ids.map((id) => ({ id, object: 'model', owned_by: owner }));
  return [200, { object: 'list', data }];
}

/** Searches without the environment and the servers of this machine. */
function find(env: NodeJS.ProcessEnv, more: Partial<FindOptions> = {}) {
  return findModels({ env, dataDir, fixture: false, localPorts: [], providers: [], ...more });
}

function provider(port: number) {
  return {
    title: 'OpenAI',
    apiKeyVariable: 'OPENAI_API_KEY',
    baseUrl: `http://127.0.0.1:${port}/v1`,
    dialect: 'openai' as const,
  };
}

/** Reads the file of sources as API and worker do. */
function sourcesOf(env: Record<string, string> = {}) {
  return readModelSources({ ...env, GATEWAYS_FILE: file });
}

test('without anything it is the fixture, and so it is when that is asked for', async () => {
  const port = await serve({ '/v1/models': list('vllm', 'qwen') });
  const env = { GATEWAY_BASE_URL: `http://127.0.0.1:${port}/v1` };
  for (const found of [
    await find({ GATEWAY_BASE_URL: '' }),
    await find(env, { fixture: true }),
    await find({ ...env, FIXTURE_MODE: 'true' }),
  ]) {
    expect(found).toMatchObject({
      variables: undefined,
      summary: expect.stringMatching(/^the fixture, which only pretends/),
      demo: { modelIds: ['fixture/writer-small'], isFree: true },
    });
  }
});

test.each([
  ['llamacpp', 'llama.cpp', 'llama.cpp'],
  ['vllm', 'vllm', 'vLLM'],
  ['organization_owner', 'lm-studio', 'LM Studio'],
  ['library', 'ollama', 'Ollama'],
])('a server that signs as %s is known as %s, and costs nothing', async (owner, dialect, title) => {
  const port = await serve({ '/v1/models': list(owner, 'nomic-embed-text', 'qwen3') });
  const found = await find({}, { localPorts: [{ port, dialect: 'other' }] });
  expect(found.summary).toBe(`${title} on this machine, 1 model`);
  expect(found.demo).toEqual({ modelIds: ['qwen3', `${dialect}/qwen3`], isFree: true });
  expect(found.variables).toEqual({ GATEWAYS_FILE: file, FIXTURE_MODE: 'false' });
  expect(sourcesOf()).toMatchObject({
    sources: [{ name: dialect, baseUrl: `http://127.0.0.1:${port}/v1`, dialect, free: true }],
    faults: [],
  });
});

test('a proxy on this machine may cost money, and so may an unknown server', async () => {
  const replies = { '/v1/models': list('openai', 'gpt') };
  const [proxy, unknown] = [await serve(replies), await serve(replies)];
  const found = await find(
    {},
    {
      localPorts: [
        { port: proxy, dialect: 'litellm' },
        { port: unknown, dialect: 'other' },
      ],
    },
  );
  expect(found.summary).toBe('LiteLLM on this machine, 1 model; A model server on this machine, 1 model');
  expect(found.demo?.isFree).toBe(false);
  expect(sourcesOf().sources.map(({ name, free }) => [name, free])).toEqual([
    ['litellm', false],
    [`local-${unknown}`, false],
  ]);
});

test('other programs at the usual ports are left alone', async () => {
  const ports = [
    await serve({}),
    await serve({ '/v1/models': [200, '<!doctype html><title>Jenkins</title>'] }),
    await serve({ '/v1/models': [200, { data: [{ id: 'tractor', price: 5 }] }] }),
    await serve({ '/v1/models': [200, { object: 'list', data: [{ name: 'no id' }] }] }),
    await serve({ '/v1/models': [401, { error: 'sign in' }] }),
    await freePort(),
  ];
  const localPorts = ports.map((port) => ({ port, dialect: 'other' as const }));
  const found = await find({}, { localPorts });
  expect(found).toMatchObject({ variables: undefined, notes: [] });
});

test('if Ollama has no models, the start says what to do and uses the fixture', async () => {
  const port = await serve({ '/v1/models': [200, { object: 'list', data: null }] });
  const found = await find({}, { localPorts: [{ port, dialect: 'ollama' }] });
  expect(found.variables).toBeUndefined();
  expect(found.notes).toEqual([
    `Ollama on this machine gives no models (GET http://127.0.0.1:${port}/v1/models: it has no models that write text); fetch one with \`ollama pull\`.`,
  ]);
});

test('a key and a local server each become a source, the key first and never in the file', async () => {
  const remote = await serve({ '/v1/models': list('openai', 'whisper-1', 'gpt-5', 'gpt-5-mini') });
  const local = await serve({ '/v1/models': list('library', 'llama3.2') });
  const env = { OPENAI_API_KEY: 'sk-secret' };
  const found = await find(env, {
    providers: [provider(remote)],
    localPorts: [{ port: local, dialect: 'ollama' }],
  });
  expect(found.summary).toBe('OpenAI (OPENAI_API_KEY), 2 models; Ollama on this machine, 1 model');
  expect(found.demo).toEqual({ modelIds: ['gpt-5', 'openai/gpt-5'], isFree: false });
  expect(readFileSync(file, 'utf8')).not.toContain('sk-secret');
  const { sources, faults } = sourcesOf(env);
  expect(faults).toEqual([]);
  expect(sources.map(({ name, apiKey, free, prefix }) => [name, apiKey, free, prefix])).toEqual([
    ['openai', 'sk-secret', false, true],
    ['ollama', undefined, true, true],
  ]);
});

test('lists in the manner of Anthropic and of Gemini are read', async () => {
  const [claude, gemini] = [
    await serve({
      '/v1/models?limit=1000': [200, { data: [{ type: 'model', id: 'claude-opus' }] }],
    }),
    await serve({ '/v1/models': list('google', 'models/gemini-flash') }),
  ];
  const anthropic = { ...provider(claude), title: 'Anthropic', dialect: 'anthropic' as const };
  const found = await find({ OPENAI_API_KEY: 'k' }, { providers: [anthropic] });
  expect(found.demo?.modelIds).toContain('claude-opus');
  const google = { ...provider(gemini), title: 'Gemini', dialect: 'gemini' as const };
  const other = await find({ OPENAI_API_KEY: 'k' }, { providers: [google] });
  expect(other.demo?.modelIds).toContain('gemini-flash');
});

test('ids of models stay as they are when a source joins, and while a server is away', async () => {
  const [remote, local] = [await freePort(), await freePort()];
  const localPorts = [{ port: local, dialect: 'other' as const }];
  const options = { providers: [provider(remote)], localPorts };
  await serve({ '/v1/models': list('llamacpp', 'smol') }, local);
  await find({}, options);
  expect(sourcesOf().sources).toMatchObject([{ name: 'llama.cpp', prefix: false }]);

  await serve({ '/v1/models': list('openai', 'gpt-5') }, remote);
  const env = { OPENAI_API_KEY: 'sk-1' };
  await find(env, options);
  const joined = sourcesOf(env);
  await find({ GATEWAY_BASE_URL: `http://127.0.0.1:${await freePort()}/v1` }, options);
  expect(joined.sources).toMatchObject([
    { name: 'openai', prefix: true },
    { name: 'llama.cpp', prefix: false },
  ]);

  const [first] = servers.splice(0, 1);
  await new Promise((closed) => first?.close(closed));
  const away = await find(env, options);
  expect(sourcesOf(env)).toEqual(joined);
  expect(away.summary).toBe('OpenAI (OPENAI_API_KEY), 1 model');
  expect(away.notes).toEqual([
    `llama.cpp on this machine gives no models (GET http://127.0.0.1:${local}/v1/models: nothing listens there); start it, or delete .data/gateways-seen.yaml to forget it.`,
  ]);
});

test('GATEWAY_BASE_URL is used alone, with the dialect of its server, and says what it leaves out', async () => {
  const port = await serve({ '/v1/models': list('vllm', 'qwen') });
  const env = {
    GATEWAY_BASE_URL: `http://localhost:${port}/v1/`,
    GATEWAY_API_KEY: 'gate-key',
    OPENAI_API_KEY: 'sk-1',
  };
  const found = await find(env, { providers: [provider(await freePort())] });
  expect(found.summary).toBe('vLLM at GATEWAY_BASE_URL, 1 model');
  expect(found.notes).toEqual([expect.stringContaining('OPENAI_API_KEY is not used')]);
  expect(sourcesOf(env).sources).toMatchObject([
    { name: 'gateway', apiKey: 'gate-key', dialect: 'vllm', free: true, prefix: false },
  ]);
});

test('a file of one’s own is used as it is, and none is made', async () => {
  const port = await serve({ '/v1/models': list('x', 'qwen') });
  const env = { GATEWAY_BASE_URL: `http://127.0.0.1:${port}/v1` };
  await find(env);
  const own = path.join(dataDir, 'own.yaml');
  renameSync(file, own);
  const found = await find({ GATEWAYS_FILE: own });
  expect(found.variables?.['GATEWAYS_FILE']).toBe(own);
  expect(found.summary).toBe('gateway, 1 model');
  await expect(find({ GATEWAYS_FILE: path.join(dataDir, 'none.yaml') })).rejects.toThrow(
    'GATEWAYS_FILE: cannot be read',
  );
});

test.each<[what: string, replies: Record<string, Reply>, path: string, said: string]>([
  [
    'a wrong key',
    { '/v1/models': [401, { error: { message: 'Incorrect API key: sk-secret' } }] },
    '/v1',
    'it answered 401); put a valid key into GATEWAY_API_KEY.',
  ],
  [
    'a key without rights',
    { '/v1/models': [403, { error: { message: 'sk-secret may\u0000 not' } }] },
    '/v1',
    'it answered 403, "… may not"); put a valid key into GATEWAY_API_KEY.',
  ],
  [
    'a forgotten /v1 (404)',
    { '/v1/models': list('x', 'm') },
    '',
    'it answered 404); correct GATEWAY_BASE_URL: its models are at {url}/v1.',
  ],
  [
    'a forgotten /v1 (a web page)',
    { '/models': [200, '<html>'], '/v1/models': list('x', 'm') },
    '',
    'it gave a web page); correct GATEWAY_BASE_URL: its models are at {url}/v1.',
  ],
  ['a wrong path', {}, '/api', 'it answered 404); correct GATEWAY_BASE_URL: such addresses usually end in /v1.'],
  [
    'a server that is not well',
    { '/v1/models': [503, { error: { message: 'Loading model' } }] },
    '/v1',
    'it answered 503, "Loading model"); look after it, or wait.',
  ],
])('%s is told in one sentence with what helps', async (_what, replies, at, said) => {
  const port = await serve(replies);
  const url = `http://127.0.0.1:${port}`;
  const env = { GATEWAY_BASE_URL: `${url}${at}`, GATEWAY_API_KEY: 'sk-secret' };
  const found = await find(env);
  expect(found).toMatchObject({ summary: expect.stringMatching(/^none/), demo: undefined });
  expect(found.notes).toEqual([
    `A model server at GATEWAY_BASE_URL gives no models (GET ${url}${at}/models: ${said.replace('{url}', url)}`,
  ]);
});

test('a server that cannot be reached, and an address or key that cannot be used', async () => {
  const port = await freePort();
  const away = await find({ GATEWAY_BASE_URL: `http://127.0.0.1:${port}/v1` });
  expect(away.notes).toEqual([
    expect.stringContaining('nothing listens there); start it, or correct GATEWAY_BASE_URL.'),
  ]);
  const env = { GATEWAY_BASE_URL: `http://127.0.0.1:${port}/v1`, GATEWAY_API_KEY: 'sk-\nsecret' };
  const unaskable = await find(env);
  expect(unaskable.notes).toEqual([expect.stringContaining('or the key in GATEWAY_API_KEY.')]);
  expect(unaskable.notes.join()).not.toContain('secret');
  const password = await find({ GATEWAY_BASE_URL: `http://me:hidden@127.0.0.1:${port}/v1` });
  expect(password.notes).toHaveLength(1);
  expect(password.notes.join()).not.toContain('hidden');
  await expect(find({ GATEWAY_BASE_URL: 'localhost:8080' })).rejects.toThrow(
    'GATEWAY_BASE_URL: expected an http or https URL',
  );
});

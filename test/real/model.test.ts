import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Child } from '#dev/stack/child.ts';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { freePort } from '#dev/stack/ports.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { routineWith, toolSteps } from '#test/core/integrations/tools/support.ts';
import { startModelProxy, type ModelProxy } from './model-proxy.ts';
import { installModelServer, MODEL_ID, type ModelServer } from './model-server.ts';
import { openServers, type Servers } from './servers.ts';

let servers: Servers;
let modelServer: ModelServer;
let tools: HostileTools;
let port: number;
let proxy: ModelProxy;
let service: Service;
let key: ApiClient;

beforeAll(async () => {
  servers = await openServers();
  modelServer = await installModelServer(servers);
  tools = await startHostileTools();
  port = await freePort();
  proxy = await startModelProxy(`http://127.0.0.1:${port}`);
  service = await startService({ worker: true, env: { GATEWAY_BASE_URL: proxy.url } });
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await service?.close();
  await proxy?.stop();
  await tools?.stop();
  await servers?.close();
});

const ROUTINE = {
  instructions: 'Say in one sentence how the weather is.',
  model: { provider: 'gateway', connectionId: null, modelId: MODEL_ID },
};

async function begin(routineId: string): Promise<string> {
  const { status, data, body } = await key.post(`/v1/routines/${routineId}/run`);
  expect([status, body.error]).toEqual([202, undefined]);
  return data.id;
}

async function run(routineId: string) {
  return runEnded(key, await begin(routineId));
}

interface Family {
  readonly family: string;
  /** The name of a template in llama.cpp's own collection. */
  readonly template?: string;
  /** The server's error about a tool's result if the template has no place for results. */
  readonly refusal?: RegExp;
  readonly thinks?: boolean;
}

const FAMILIES: readonly Family[] = [
  { family: 'SmolLM2, its own' },
  { family: 'Mistral Small 3.2', template: 'Mistral-Small-3.2-24B-Instruct-2506' },
  { family: 'Gemma 2', template: 'google-gemma-2-2b-it', refusal: /roles must alternate/ },
  { family: 'Qwen3 Coder', template: 'Qwen3-Coder' },
  { family: 'DeepSeek R1', template: 'llama-cpp-deepseek-r1', thinks: true },
];

describe.each(FAMILIES)('with the chat template of $family', ({ template, refusal, thinks }) => {
  let child: Child;
  beforeAll(async () => {
    proxy.thinks = thinks ?? false;
    child = await modelServer.start(port, template);
  });
  afterAll(() => child?.stop());

  test('a routine runs and has a result', async () => {
    const { data: models } = await key.get('/v1/models');
    expect(models.map(({ modelId }: { modelId: string }) => modelId)).toContain(MODEL_ID);
    const ended = await run(await createRoutine(key, ROUTINE));
    expect([ended.state, ended.errorMessage]).toEqual(['succeeded', null]);
    expect(ended.result).toMatch(/^It is [a-z]+\.$/);
    expect(ended.usage.inputTokens).toBeGreaterThan(10);
  });

  test('a tool that the model calls is called, and it is told what came of it, or a person why not', async () => {
    tools.control.reset();
    tools.control.answer = () => 'It rains.';
    const { routineId } = await routineWith(key, ['lookup'], {
      connection: { url: tools.url('honest') },
      routine: { ...ROUTINE, instructions: 'Look up how the weather is.' },
    });
    const ended = await run(routineId);
    const end = [ended.state, ended.errorMessage];
    expect(end).toEqual(refusal === undefined ? ['succeeded', null] : ['failed', expect.stringMatching(refusal)]);
    expect(toolSteps(ended)).toMatchObject([{ state: 'succeeded', tool: { toolName: 'lookup', result: 'It rains.' } }]);
    expect(tools.control.calls).toMatchObject([{ name: 'lookup', arguments: { query: expect.any(String) } }]);
    expect(JSON.stringify(proxy.bodies.at(-1))).toContain('It rains.');
  });

  test('a result has the form that its routine gives it', async () => {
    const resultSchema = {
      type: 'object',
      properties: { rains: { type: 'boolean' } },
      required: ['rains'],
      additionalProperties: false,
    };
    const ended = await run(await createRoutine(key, { ...ROUTINE, resultSchema }));
    expect([ended.state, ended.errorMessage]).toEqual(['succeeded', null]);
    expect(ended.data).toEqual({ rains: expect.any(Boolean) });
  });
});

describe('with a model that writes and writes', () => {
  let child: Child;
  beforeAll(async () => {
    child = await modelServer.start(port);
    Object.assign(proxy, { endless: true, thinks: false });
  });
  afterAll(() => child?.stop());

  test('a run is cancelled in the middle, and the server hears of it', async () => {
    const runId = await begin(await createRoutine(key, ROUTINE));
    await expect.poll(() => proxy.underWay()).toBe(1);
    expect((await key.post(`/v1/runs/${runId}/cancel`)).status).toBe(202);
    expect((await runEnded(key, runId)).state).toBe('cancelled');
    await expect.poll(() => proxy.underWay(), { timeout: 60_000 }).toBe(0);
  });

  test('a server that is killed in the middle costs an attempt, and the run gets its result', async () => {
    const runId = await begin(await createRoutine(key, ROUTINE));
    await expect.poll(() => proxy.underWay()).toBe(1);
    process.kill(child.pid, 'SIGKILL');
    await child.exited;
    proxy.endless = false;
    child = await modelServer.start(port);
    const ended = await runEnded(key, runId);
    expect([ended.state, ended.errorMessage]).toEqual(['succeeded', null]);
    expect(ended.result).toMatch(/^It is [a-z]+\.$/);
    expect(ended.steps[0].attempt).toBeGreaterThan(1);
  });
});

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FIXTURE_KEY, startProviders, type FixtureProviders } from '#dev/fakes/providers/server.ts';
import { fixtureProviderFile } from '#dev/fakes/providers/files.ts';
import { loadConfig } from '#lib/config/index.ts';
import type { RunBody } from '#lib/envelope/index.ts';
import { createLog } from '#lib/log.ts';
import type { Protocol, ProviderSlot } from '#lib/provider-file/index.ts';
import {
  createRuntimeClient,
  type RuntimeCall,
  type RuntimeClient,
  type RuntimeClientSettings,
} from '#lib/runtime-client/index.ts';
import { issueCertificates } from '#runtime/certificates/issue.ts';
import { startRuntime, type Runtime } from '#runtime/start.ts';
import { HAS_BUBBLEWRAP } from './bubblewrap.ts';
import { startNode, type NodeProcess } from '#test/support/node-process.ts';

/** Protocol of each slot of the rig. */
const PROTOCOL: Record<ProviderSlot, Protocol> = {
  'provider-a': 'openai-chat',
  'provider-b': 'openai-responses',
  'provider-c': 'anthropic-messages',
};
const LETTERS = { 'provider-a': 'A', 'provider-b': 'B', 'provider-c': 'C' } as const;
export const SLOTS = ['provider-a', 'provider-b', 'provider-c'] as const;

export interface RigOptions {
  /** Existing providers. Default the rig's own. */
  readonly providers?: FixtureProviders;
  /** The authorization server of slots A and B. */
  readonly issuer?: string;
  /** Fields of `auth` by slot; undefined removes a field. */
  readonly auth?: Partial<Record<ProviderSlot, Readonly<Record<string, unknown>>>>;
  /** Fields of `api` in every provider file. */
  readonly api?: Readonly<Record<string, unknown>>;
  /** Further fields of `api` by slot. */
  readonly apiOf?: Partial<Record<ProviderSlot, Readonly<Record<string, unknown>>>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Rig {
  readonly providers: FixtureProviders;
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly ca: string;
  readonly secret: string;
  hash(slot: ProviderSlot): string;
  /** Starts the runtime in this process. */
  start(env?: Record<string, string>): Promise<Runtime>;
  /** Starts the runtime as a process, like an operator; another entry or a wrapping command is possible. */
  spawn(
    env?: Record<string, string>,
    as?: { readonly entry?: string; readonly wrap?: readonly string[] },
  ): Promise<NodeProcess & { readonly port: number }>;
  client(port: number, settings?: Partial<RuntimeClientSettings>): RuntimeClient;
  close(): Promise<void>;
}

/** Creates everything around a runtime: providers, their files, certificates, a state folder. */
export async function createRig(options: RigOptions = {}): Promise<Rig> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ras-rig-'));
  const providers = options.providers ?? (await startProviders({ port: 0, log: () => undefined }));
  const { ca, cert, key } = await issueCertificates(['127.0.0.1', 'localhost']);
  const secret = randomBytes(32).toString('base64');
  const closing: (() => Promise<unknown>)[] = [];
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const hashes = new Map<ProviderSlot, string>();
  const files = SLOTS.flatMap((slot) => {
    const text = fixtureProviderFile({
      slot,
      protocol: PROTOCOL[slot],
      baseUrl: providers.baseUrls[PROTOCOL[slot]],
      issuer: options.issuer ?? 'http://127.0.0.1:1',
      auth: options.auth?.[slot] ?? {},
      api: { ...options.api, ...options.apiOf?.[slot] },
    });
    hashes.set(slot, createHash('sha256').update(text).digest('hex'));
    const prefix = `MODEL_PROVIDER_${LETTERS[slot]}`;
    return [
      [`${prefix}_FILE`, write(`${slot}.yaml`, text)],
      [`${prefix}_ENABLED`, 'true'],
    ];
  });
  const env: Record<string, string> = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    MODEL_PROVIDER_FAKE: 'true',
    MODEL_RUNTIME_SECRET: secret,
    MODEL_RUNTIME_CERT_FILE: write('cert.pem', cert),
    MODEL_RUNTIME_KEY_FILE: write('key.pem', key),
    MODEL_RUNTIME_STATE_DIR: path.join(folder, 'state'),
    MODEL_RUNTIME_PORT: '0',
    // The sandbox's own tests say when they are skipped without it.
    MODEL_RUNTIME_SANDBOX: HAS_BUBBLEWRAP ? 'bubblewrap' : 'process',
    ...Object.fromEntries(files),
    ...options.env,
  };
  return {
    providers,
    folder,
    env,
    ca,
    secret,
    hash: (slot) => hashes.get(slot)!,
    async start(more = {}) {
      const config = loadConfig('runtime', { ...env, ...more });
      const runtime = await startRuntime(config, createLog({ level: 'silent', name: 'runtime' }));
      let stopped: Promise<void> | undefined;
      const stop = () => (stopped ??= runtime.stop());
      closing.push(stop);
      return { ...runtime, stop };
    },
    async spawn(more = {}, { entry = 'runtime/server.ts', wrap = [] } = {}) {
      const child = startNode(entry, { ...env, LOG_LEVEL: 'info', ...more }, { wrap });
      closing.push(() => child.end('SIGKILL'));
      await child.until('listening');
      const port = Number(/"port":(\d+)/.exec(child.output())?.[1]);
      return { ...child, port };
    },
    client(port, settings = {}) {
      const client = createRuntimeClient({
        url: `https://127.0.0.1:${port}`,
        secret,
        ca,
        issuer: 'test',
        requireIsolation: false,
        ...settings,
      });
      closing.push(() => client.close());
      return client;
    },
    async close() {
      // Close clients first, because their connections delay the end of a runtime.
      for (const close of closing.toReversed()) await close();
      if (options.providers === undefined) await providers.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a call as `core` would make it, with a new request each time. */
export function callOn(rig: Rig, instanceId: string, changes: Partial<RuntimeCall> = {}): RuntimeCall {
  const provider = changes.provider ?? 'provider-c';
  return {
    lease: { instanceId, epoch: 1 },
    requestId: `run_${randomUUID()}/0/0`,
    provider,
    fileHash: rig.hash(provider),
    projectId: 'prj_1',
    connectionId: 'mcn_1',
    credential: { value: FIXTURE_KEY, account: null },
    credentialVersion: 1,
    deadline: Date.now() + 60_000,
    ...changes,
  };
}

export const BODY: RunBody = {
  modelId: 'fixture/account-small',
  instructions: 'You are careful.',
  messages: [{ role: 'user', content: 'Write the weekly report.' }],
  tools: [],
  maxOutputTokens: null,
};

export function runOn(rig: Rig, instanceId: string, changes: Partial<RuntimeCall> & { body?: RunBody } = {}) {
  return { runId: 'run_1', step: 0, body: BODY, ...callOn(rig, instanceId, changes), ...changes };
}

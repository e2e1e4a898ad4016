import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SLOT_LETTER, SLOTS, type Protocol, type ProviderSlot } from '#lib/provider-file/index.ts';
import type { Child, Log, SpawnChild } from './child.ts';
import type { Ports } from './environment.ts';
import { isListening } from './ports.ts';
import { fixtureProviderFile } from '../fakes/providers/files.ts';
import { FIXTURE_CLIENTS } from '../fakes/providers/sign-in.ts';

export interface ModelAccountsOptions {
  readonly ports: Ports;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  /** Origin to which the authorization server returns a person's browser. */
  readonly uiOrigin: string;
  readonly secret: string;
  /** Adds a sentence to the summary: the missing part and the reason. */
  readonly note: Log;
  readonly platform?: NodeJS.Platform;
  readonly spawn: SpawnChild;
}

/** Protocol of each slot of the fixture. All three protocols are in use. */
const PROTOCOL: Readonly<Record<ProviderSlot, Protocol>> = {
  'provider-a': 'openai-chat',
  'provider-b': 'openai-responses',
  'provider-c': 'anthropic-messages',
};

const ROOT = path.resolve(import.meta.dirname, '../..');

/**
 * Starts three fixture model providers and the provider runtime, and returns the variables with which API and worker
 * use them. Without bubblewrap model sessions have no sandbox, which fixtures do not need. The runtime exists on Linux
 * only.
 * @returns no variables without a runtime
 */
export async function startModelAccounts(options: ModelAccountsOptions): Promise<Record<string, string>> {
  const { env, note, ports, dataDir, platform = process.platform } = options;
  if (SLOTS.some((slot) => env[`MODEL_PROVIDER_${SLOT_LETTER[slot]}_ENABLED`])) return {};
  if (platform !== 'linux') {
    note('Personal model accounts are left out: their sandbox needs Linux.');
    return {};
  }
  const missing = whyNoSandbox(env);
  if (missing !== undefined) note(`Model sessions are not isolated: ${missing}`);
  const folder = path.join(dataDir, 'runtime');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const shared = {
    MODEL_PROVIDER_FAKE: 'true',
    MODEL_RUNTIME_SECRET: options.secret,
    ...writeProviderFiles(folder, ports),
  };
  const tls = certificates(folder);
  await options.spawn({
    name: 'Model providers',
    command: process.execPath,
    args: ['dev/fakes/providers/main.ts'],
    cwd: ROOT,
    env: {
      ...env,
      MODEL_PROVIDERS_PORT: String(ports.modelProviders),
      MODEL_SIGN_IN_PORT: String(ports.modelSignIn),
      MODEL_REDIRECT_URI: `${options.uiOrigin}/v1/model-connections/provider-b/oauth/callback`,
    },
    logFile: path.join(dataDir, 'model-providers.log'),
  });
  const runtime = await options.spawn({
    name: 'Provider runtime',
    command: process.execPath,
    args: ['runtime/server.ts'],
    cwd: ROOT,
    env: {
      ...withoutMetrics(env),
      ...shared,
      NODE_ENV: 'development',
      MODEL_RUNTIME_HOST: '127.0.0.1',
      MODEL_RUNTIME_PORT: String(ports.modelRuntime),
      MODEL_RUNTIME_CERT_FILE: tls.cert,
      MODEL_RUNTIME_KEY_FILE: tls.key,
      MODEL_RUNTIME_SANDBOX: missing === undefined ? 'bubblewrap' : 'process',
      MODEL_RUNTIME_STATE_DIR: path.join(folder, 'state'),
    },
    logFile: path.join(dataDir, 'provider-runtime.log'),
    stop: { graceMs: 15_000 },
  });
  await untilListening(runtime, ports.modelRuntime);
  return {
    ...shared,
    MODEL_RUNTIME_URL: `https://127.0.0.1:${ports.modelRuntime}`,
    MODEL_RUNTIME_CA_FILE: tls.ca,
    MODEL_PROVIDER_A_CLIENT_ID: FIXTURE_CLIENTS.a,
    MODEL_PROVIDER_B_CLIENT_ID: FIXTURE_CLIENTS.b,
  };
}

/**
 * Tries the sandbox that the runtime uses for model steps.
 * @returns the reason if the sandbox cannot be made
 */
function whyNoSandbox(env: NodeJS.ProcessEnv): string | undefined {
  const walls = ['--unshare-all', '--unshare-user', '--disable-userns', '--ro-bind', '/', '/'];
  const tried = spawnSync('bwrap', [...walls, 'true'], { env });
  if (tried.error !== undefined) {
    return 'bubblewrap is not installed (Debian: apt-get install bubblewrap).';
  }
  return tried.status === 0 ? undefined : 'bubblewrap cannot make a sandbox on this machine.';
}

function writeProviderFiles(folder: string, ports: Ports): Record<string, string> {
  const variables = SLOTS.flatMap((slot) => {
    const file = path.join(folder, `${slot}.yaml`);
    const text = fixtureProviderFile({
      slot,
      protocol: PROTOCOL[slot],
      baseUrl: `http://127.0.0.1:${ports.modelProviders}/${PROTOCOL[slot]}`,
      issuer: `http://127.0.0.1:${ports.modelSignIn}`,
    });
    writeFileSync(file, text);
    const prefix = `MODEL_PROVIDER_${SLOT_LETTER[slot]}`;
    return [
      [`${prefix}_ENABLED`, 'true'],
      [`${prefix}_FILE`, file],
    ];
  });
  return Object.fromEntries(variables);
}

/** Makes the certificates of the runtime once, with the operator's command. */
function certificates(folder: string): { ca: string; cert: string; key: string } {
  const tls = path.join(folder, 'tls');
  if (!existsSync(path.join(tls, 'ca.pem'))) {
    execFileSync(process.execPath, ['runtime/certificates/main.ts', tls, '127.0.0.1', 'localhost'], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const file = (name: string) => path.join(tls, `${name}.pem`);
  return { ca: file('ca'), cert: file('cert'), key: file('key') };
}

/** Removes the port of metrics, because the API uses that port. */
function withoutMetrics(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { METRICS_PORT: _, ...rest } = env;
  return rest;
}

async function untilListening(runtime: Child, port: number): Promise<void> {
  while (!(await isListening(port))) {
    if (runtime.exit() !== undefined) {
      throw new Error(`The provider runtime did not start:\n\n${runtime.outputTail()}`);
    }
    await sleep(50);
  }
}

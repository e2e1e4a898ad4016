import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { spawnChild } from '../child.ts';
import type { Child, Log, SpawnChild } from '../child.ts';
import { staysTaken } from '../ports.ts';
import { whenHealthy } from './health.ts';
import { DYNAMIC_CONFIG, SEARCH_ATTRIBUTES, SQLITE_PRAGMAS } from './settings.ts';

export interface TemporalOptions {
  /** Path of the Temporal CLI. */
  binary: string;
  /** Folder of the database and the log; undefined for a temporary folder that `stop` removes. */
  dataDir: string | undefined;
  port: number;
  /** Port of the web UI; null for none. */
  uiPort: number | null;
  log: Log;
  /** Starts the server; use the supervisor's function, so that the server cannot outlive us. */
  spawn?: SpawnChild;
  /** Dynamic configuration that overrides our own. */
  dynamicConfig?: Readonly<Record<string, number | boolean>>;
}

export interface Temporal {
  /** Host and port of the gRPC frontend. */
  address: string;
  uiUrl: string | null;
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts the Temporal development server on 127.0.0.1 and waits until its default namespace has our search attributes
 * registered.
 */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const { dataDir, port, uiPort, log, spawn = spawnChild } = options;
  for (const wanted of [port, ...(uiPort === null ? [] : [uiPort])]) {
    // Another program's answer at this port would look like our server's health.
    if (await staysTaken(wanted)) {
      throw new Error(`Temporal cannot start: port ${wanted} is already in use.`);
    }
  }
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'ras-temporal-')));
  const removeTemporary = async (): Promise<void> => {
    if (dataDir === undefined) await rm(folder, { recursive: true, force: true });
  };
  let starting = true;
  try {
    await mkdir(folder, { recursive: true });
    const server = await spawn({
      isStarting: () => starting,
      name: 'Temporal',
      command: options.binary,
      args: serverArgs(options, join(folder, 'temporal.db')),
      env: serverEnv(),
      logFile: join(folder, 'temporal.log'),
      stop: { signal: 'SIGTERM', graceMs: 10_000 },
    });
    const address = `127.0.0.1:${port}`;
    const uiUrl = uiPort === null ? null : `http://127.0.0.1:${uiPort}`;
    await healthyOrStopped(server, { address, uiUrl, log });
    starting = false;
    return {
      address,
      uiUrl,
      pid: server.pid,
      stop: async () => {
        await server.stop();
        await removeTemporary();
      },
    };
  } catch (error) {
    await removeTemporary();
    throw error;
  }
}

function serverArgs({ port, uiPort, dynamicConfig }: TemporalOptions, database: string): string[] {
  return [
    'server',
    'start-dev',
    '--disable-config-file',
    '--disable-config-env',
    '--ip=127.0.0.1',
    `--port=${port}`,
    ...(uiPort === null ? ['--headless'] : [`--ui-port=${uiPort}`, '--ui-disable-news-fetch']),
    `--db-filename=${database}`,
    '--log-level=warn',
    '--color=never',
    ...repeated('--sqlite-pragma', SQLITE_PRAGMAS),
    ...repeated('--dynamic-config-value', { ...DYNAMIC_CONFIG, ...dynamicConfig }),
    ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

function repeated(flag: string, values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${String(value)}`]);
}

/** Returns the environment without the settings of the user's own Temporal (TEMPORAL_…). */
function serverEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/** Timeout of the start. A large database takes a while to open. If the server has ended, the wait ends too. */
const HEALTHY_TIMEOUT_MS = 60_000;

async function healthyOrStopped(
  server: Child,
  target: { address: string; uiUrl: string | null; log: Log },
): Promise<void> {
  const giveUp = new AbortController();
  const timeout = AbortSignal.timeout(HEALTHY_TIMEOUT_MS);
  const ended = server.exited.then(() => giveUp.abort());
  try {
    await Promise.race([
      whenHealthy({ ...target, signal: AbortSignal.any([giveUp.signal, timeout]) }),
      ended.then(() => Promise.reject(new Error('it ended'))),
    ]);
  } catch (error) {
    await server.stop();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Temporal did not start: ${why}.\n${server.outputTail().trim()}`, {
      cause: error,
    });
  } finally {
    giveUp.abort();
  }
}

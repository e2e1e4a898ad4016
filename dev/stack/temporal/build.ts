import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import type { Log } from '../child.ts';
import type { Guard } from '../children.ts';
import { errorCode } from '../error-code.ts';
import { identify } from '../processes.ts';
import { elapsed, reportEvery } from '../progress.ts';
import { CLI_VERSION } from './version.ts';

const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
const VERSION_VARIABLE = 'github.com/temporalio/cli/internal/temporalcli.Version';

export interface BuildOptions {
  env: NodeJS.ProcessEnv;
  onProgress: Log;
  guard?: Guard;
  signal?: AbortSignal;
}

/**
 * Builds the CLI from the Go module in this folder to the file `destination`: four to five minutes
 * on two cores, 138 MB. `go install …@version` would refuse, because the CLI's module has a `replace`.
 */
export async function buildBinary(
  destination: string,
  { env, onProgress, guard, signal }: BuildOptions,
): Promise<void> {
  const go = spawn(
    'go',
    [
      'build',
      '-v',
      '-trimpath',
      '-buildvcs=false',
      `-ldflags=-s -w -X ${VERSION_VARIABLE}=${CLI_VERSION}`,
      '-o',
      destination,
      PACKAGE,
    ],
    {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { ...env, CGO_ENABLED: '0', GOWORK: 'off' },
      stdio: ['ignore', 'ignore', 'pipe'],
      windowsHide: true,
      ...(signal ? { signal } : {}),
    },
  );
  const identity = go.pid === undefined ? undefined : identify(go.pid);
  const release = identity && guard?.({ name: 'Temporal build', identity, stop: {} });

  const { state, errors } = readOutput(go.stderr);
  const ended = new Promise<number | null>((resolve, reject) => {
    go.once('error', reject);
    go.once('close', resolve);
  });
  const startedAt = Date.now();
  const report = (): void =>
    onProgress(
      `Building Temporal ${CLI_VERSION} from source, once for this machine, about five minutes: ` +
        `${state()} (${elapsed(startedAt)})`,
    );
  let reports: { stop(): void } | undefined;
  try {
    await Promise.race([new Promise((resolve) => go.once('spawn', resolve)), ended]);
    if (go.pid !== undefined) lowerPriority(go.pid);
    reports = reportEvery(5_000, report);
    const code = await ended;
    if (code !== 0) throw new Error(`go build failed: ${errors()}`);
  } catch (error) {
    throw errorCode(error) === 'ENOENT' ? new Error('go not found on PATH', { cause: error }) : error;
  } finally {
    reports?.stop();
    release?.();
  }
}

/** Reads progress from go's output: with -v it names each package it compiles and each module it downloads. */
function readOutput(stderr: NodeJS.ReadableStream): { state: () => string; errors: () => string } {
  let modules = 0;
  let packages = 0;
  const other: string[] = [];
  createInterface({ input: stderr }).on('line', (line) => {
    if (line.startsWith('go: downloading ')) modules += 1;
    else if (/^[\w.\-/~]+$/.test(line)) packages += 1;
    else other.push(line);
  });
  return {
    state: () => {
      if (packages > 0) return `${packages} packages compiled`;
      return modules > 0 ? `${modules} modules downloaded` : 'starting';
    },
    errors: () => other.slice(-10).join('\n').slice(-2_000) || 'no reason given',
  };
}

/** Lowers the priority of a build, so that the machine stays usable; does nothing if that is forbidden. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, 10);
  } catch {}
}

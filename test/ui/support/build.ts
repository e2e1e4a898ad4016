import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '#dev/stack/lock.ts';

const run = promisify(execFile);

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

/** The folder of the built pages. */
export const DIST = path.join(ROOT, 'ui', 'dist');

let built: Promise<unknown> | undefined;

/** Builds the pages if their sources have changed. Processes that arrive at the same time wait for one build. */
export async function buildLocked(): Promise<void> {
  await (built ??= build());
}

function build(): Promise<unknown> {
  const lock = `routine-automation-ui-${Buffer.from(ROOT).toString('base64url').slice(-24)}.lock`;
  return withLock(path.join(tmpdir(), lock), () =>
    // The build is a separate process, because the NODE_ENV of the tests would change the built files.
    run(process.execPath, ['ui/build.ts', '--if-changed', '--parts'], {
      cwd: ROOT,
      env: { ...process.env, NODE_ENV: 'production' },
    }),
  );
}

/**
 * Records the histories that workflow changes are replayed against, from real runs: `node dev/record-histories.ts`.
 * To be run when a workflow has learnt a new way, and before its release; histories of released code stay as they are.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';

const ROOT = path.dirname(import.meta.dirname);

const child = spawn(
  process.execPath,
  [
    path.join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    'test/workflows/record-histories.test.ts',
  ],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, RECORD_HISTORIES: 'true' } },
);
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});

/**
 * Entry: `node dev/scripts/record-histories.ts` records histories of real runs, which later changes of workflows
 * replay. Run it when a workflow has a new path, before its release; histories of released code stay unchanged.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

const child = spawn(
  process.execPath,
  [path.join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', 'test/workflows/record-histories.test.ts'],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, RECORD_HISTORIES: 'true' } },
);
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});

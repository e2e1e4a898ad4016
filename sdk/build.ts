/** Entry: `npm run sdk:build` compiles the SDK into sdk/dist, as it is packed. */
import { spawnSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';

const FOLDER = import.meta.dirname;
const ROOT = path.join(FOLDER, '..');

// What an earlier build wrote and this one does not would be packed as well.
await rm(path.join(FOLDER, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', FOLDER], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);
await cp(path.join(ROOT, 'LICENSE'), path.join(FOLDER, 'LICENSE'));

/** Entry: `npm run cli:build` compiles the SDK and the CLI into their dist folders, as they are packed. */
import { spawnSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import path from 'node:path';

const FOLDER = import.meta.dirname;
const ROOT = path.join(FOLDER, '..');

run(process.execPath, path.join(ROOT, 'sdk/build.ts'));
// Delete the files of an earlier build, which would be packed too.
await rm(path.join(FOLDER, 'dist'), { recursive: true, force: true });
// The CLI is compiled against the packed SDK, not against the SDK's sources.
const OPTIONS = ['--rootDir', path.join(FOLDER, 'src'), '--paths', 'null'];
run(path.join(ROOT, 'node_modules/.bin/tsc'), '-p', FOLDER, ...OPTIONS);
await cp(path.join(ROOT, 'LICENSE'), path.join(FOLDER, 'LICENSE'));

function run(command: string, ...args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

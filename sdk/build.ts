/** Entry: `npm run sdk:build` compiles the SDK into sdk/dist, as it is packed: modules, and CommonJS beside them. */
import { spawnSync } from 'node:child_process';
import { cp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const FOLDER = import.meta.dirname;
const ROOT = path.join(FOLDER, '..');
const COMMONJS = '--module commonjs --moduleResolution bundler --verbatimModuleSyntax false --outDir'.split(' ');

// Delete the files of an earlier build, which would be packed too.
await rm(path.join(FOLDER, 'dist'), { recursive: true, force: true });
for (const form of [[], [...COMMONJS, path.join(FOLDER, 'dist/commonjs')]]) {
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
  const { status } = spawnSync(tsc, ['-p', FOLDER, ...form], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
await writeFile(path.join(FOLDER, 'dist/commonjs/package.json'), '{"type": "commonjs"}\n');
await cp(path.join(ROOT, 'LICENSE'), path.join(FOLDER, 'LICENSE'));

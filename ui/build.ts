/**
 * Entry: `node ui/build.ts` builds the pages into ui/dist; with `--if-changed` only when their sources have changed, with
 * `--parts` also the gallery of parts.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, glob, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const FOLDER = import.meta.dirname;
const DIST = path.join(FOLDER, 'dist');
/** The stamp is outside of the built files, because those are served. */
const STAMP = path.join(FOLDER, 'node_modules', '.built-from');

/** Builds unless the existing build was made from these very sources. */
async function buildIfChanged(): Promise<void> {
  const sources = await hashOfSources();
  const built = await readFile(STAMP, 'utf8').catch(() => undefined);
  const isThere = await readFile(path.join(DIST, 'index.html')).catch(() => undefined);
  if (built === sources && isThere !== undefined) return;
  await buildPages();
  await writeFile(STAMP, sources);
}

/** Builds in another folder and swaps the folders, so that a server that starts meanwhile finds a whole build. */
async function buildPages(): Promise<void> {
  // Loading the bundler takes longer than finding that nothing has changed.
  const { build } = await import('vite');
  const folder = await mkdtemp(path.join(tmpdir(), 'ui-build-'));
  try {
    await build({
      configFile: path.join(FOLDER, 'vite.config.ts'),
      root: FOLDER,
      logLevel: 'warn',
      build: { outDir: folder, emptyOutDir: true },
    });
    const next = `${DIST}.next`;
    await rm(next, { recursive: true, force: true });
    await cp(folder, next, { recursive: true });
    await rm(DIST, { recursive: true, force: true });
    await rename(next, DIST);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(String(process.argv.includes('--parts')));
  const names: string[] = [];
  const patterns = ['src/**/*.*', 'public/**/*.*', 'index.html', 'vite.config.ts', 'package.json'];
  for await (const name of glob(patterns, { cwd: FOLDER })) names.push(name);
  for (const name of names.toSorted()) {
    hash.update(name).update(await readFile(path.join(FOLDER, name)));
  }
  return hash.update(await readFile(path.join(FOLDER, '..', 'package-lock.json'))).digest('hex');
}

if (import.meta.main) {
  if (!existsSync(path.dirname(STAMP))) {
    console.error('ui/node_modules is missing: run `npm ci` in the top folder, which fills it too.');
    process.exitCode = 1;
  } else if (process.argv.includes('--if-changed')) await buildIfChanged();
  else {
    await buildPages();
    await writeFile(STAMP, await hashOfSources());
  }
}

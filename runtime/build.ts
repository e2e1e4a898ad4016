/**
 * Entry: `npm run build` bundles the code of model sessions into dist/, where the development dependencies are
 * installed. Without the bundle sessions run from the sources and start half as fast.
 */
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { BUILT, bundleName, SESSION_SOURCE } from './sandbox/session-script.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/**
 * Bundles a session with its libraries, unless the bundle exists.
 * @param folder folder below the root of the code; bundles of other sources are removed from it
 * @returns path of the bundle
 */
export async function buildSession(folder: string): Promise<string> {
  const name = bundleName();
  const file = path.join(ROOT, folder, name);
  if (existsSync(file)) return file;
  const { build } = await import('vite');
  const draft = `${name}.${process.pid}`;
  await build({
    configFile: false,
    root: ROOT,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: SESSION_SOURCE,
      outDir: folder,
      emptyOutDir: false,
      target: 'node24',
      rolldownOptions: { output: { entryFileNames: draft, codeSplitting: false } },
    },
  });
  await rename(path.join(ROOT, folder, draft), file);
  const others = (await readdir(path.dirname(file))).filter(
    (each) => /^model-session\.[0-9a-f]+\.mjs$/.test(each) && each !== name,
  );
  await Promise.all(others.map((each) => rm(path.join(ROOT, folder, each), { force: true })));
  return file;
}

if (import.meta.main) {
  try {
    console.log(await buildSession(BUILT));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) {
      throw error;
    }
    console.log('Model sessions are not bundled: that needs the development dependencies (npm ci).');
  }
}

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CODE_ROOT } from './command.ts';

/** The entry of a session, in the form in which it was written. */
export const SESSION_SOURCE = 'runtime/session/session.ts';
/** Folders of the code in which bundles are looked for: what `npm run build` makes, and what tests make. */
export const BUILT = 'dist';
export const CACHE = 'node_modules/.cache/model-sessions';

/** Folders that hold every module of ours that a session imports. */
const SOURCES = ['runtime/session', 'lib/provider-file', 'lib/exact-json'];

/**
 * Returns the path of what a session runs, below the root of the code: a bundle of these very sources where one was
 * built ahead, and else the sources. A bundle is there after 0.27 s of CPU, the sources after 0.47 s: they are 145
 * modules, most of them of the model library.
 */
export function sessionScript(root = CODE_ROOT): string {
  const name = bundleName(root);
  const found = [BUILT, CACHE].map((folder) => `${folder}/${name}`);
  return found.find((file) => existsSync(path.join(root, file))) ?? SESSION_SOURCE;
}

/** Names the bundle by the hash of everything that goes into it, so that none of other sources is used. */
export function bundleName(root = CODE_ROOT): string {
  const hash = createHash('sha256');
  for (const folder of SOURCES) {
    for (const file of readdirSync(path.join(root, folder)).toSorted()) {
      hash.update(`${folder}/${file}\0`).update(readFileSync(path.join(root, folder, file)));
    }
  }
  // The model library is that of the lock file; the options of the bundler are in the other.
  for (const file of ['package-lock.json', 'runtime/build.ts']) {
    const whole = path.join(root, file);
    hash.update(existsSync(whole) ? readFileSync(whole) : '');
  }
  return `model-session.${hash.digest('hex').slice(0, 24)}.mjs`;
}

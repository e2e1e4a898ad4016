import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Folders that are deployed with a worker. */
const DEPLOYED = [
  'package.json',
  'package-lock.json',
  'activities',
  'core',
  'lib',
  'migrations',
  'skills',
  'workers',
  'workflows',
];

/** A copy of the sources as another release, with this checkout's installed packages. */
export interface Checkout {
  readonly folder: string;
  /** Replaces a text of a file. @throws unless the file contains it exactly once */
  change(file: string, from: string, to: string): Promise<void>;
  remove(): Promise<void>;
}

export async function checkOut(): Promise<Checkout> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-release-'));
  await Promise.all(DEPLOYED.map((name) => cp(path.join(ROOT, name), path.join(folder, name), { recursive: true })));
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  return {
    folder,
    async change(file, from, to) {
      const name = path.join(folder, file);
      const text = await readFile(name, 'utf8');
      if (text.split(from).length !== 2) throw new Error(`${file} has not "${from}" once`);
      await writeFile(
        name,
        text.replace(from, () => to),
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

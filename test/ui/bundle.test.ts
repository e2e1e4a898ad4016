import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildLocked, DIST } from './support/build.ts';

/** Compressed bytes of script, style and page that the first load may transfer. */
const BUDGET = 260_000;

test('the first load of a page behind the sign-in takes at most 260 kB', async () => {
  const manifest = await readManifest();
  const needed = new Set<string>();
  collect(manifest, 'index.html', needed);
  collect(manifest, chunkNamed(manifest, 'shell'), needed);
  const pages = Object.keys(manifest).filter((name) => /^src\/pages\/(?!parts\/).*page\.tsx$/.test(name));
  expect(pages.length).toBeGreaterThan(15);
  const sizes = await Promise.all(
    pages.map(async (page) => {
      const files = new Set(needed);
      collect(manifest, page, files);
      const parts = await Promise.all([...files].map(compressedSize));
      return [page, parts.reduce((sum, size) => sum + size, 0)] as const;
    }),
  );
  const tooLarge = sizes.filter(([, size]) => size > BUDGET);
  expect(tooLarge).toEqual([]);
  // The first request waits for the build.
});

test('no script runs text, and no style is inlined', async () => {
  const manifest = await readManifest();
  const files = Object.values(manifest).map(({ file }) => file);
  expect(files.length).toBeGreaterThan(20);
  for (const file of files.filter((name) => name.endsWith('.js'))) {
    const text = await readFile(path.join(DIST, file), 'utf8');
    expect(text.match(/\b(?:new )?Function\(|\beval\(/g), file).toBeNull();
  }
  const page = await readFile(path.join(DIST, 'index.html'), 'utf8');
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*src=)/);
});

test('a page behind the sign-in is there after few requests', async () => {
  const manifest = await readManifest();
  const files = new Set<string>();
  collect(manifest, 'index.html', files);
  collect(manifest, chunkNamed(manifest, 'shell'), files);
  collect(manifest, 'src/pages/routines/page.tsx', files);
  expect(files.size).toBeLessThan(30);
});

interface Chunk {
  readonly file: string;
  readonly name?: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

async function readManifest(): Promise<Record<string, Chunk>> {
  await buildLocked();
  return JSON.parse(await readFile(path.join(DIST, 'manifest.json'), 'utf8')) as Record<string, Chunk>;
}

/** Finds a file that `ui/vite.config.ts` makes from the code that several pages share. */
function chunkNamed(manifest: Record<string, Chunk>, name: string): string {
  const found = Object.keys(manifest).find((key) => manifest[key]?.name === name);
  if (found === undefined) throw new Error(`no file is named ${name}`);
  return found;
}

/** Adds the files of a module and of its static imports. */
function collect(manifest: Record<string, Chunk>, name: string, files: Set<string>): void {
  const chunk = manifest[name];
  if (chunk === undefined) throw new Error(`${name} is not in the build`);
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const file of chunk.css ?? []) files.add(file);
  for (const imported of chunk.imports ?? []) collect(manifest, imported, files);
}

async function compressedSize(file: string): Promise<number> {
  return (await promisify(gzip)(await readFile(path.join(DIST, file)), { level: 9 })).length;
}

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { faultsOf, readHouse } from '#dev/house/measure.ts';

const BODY = 'export const filler = 0;\n'.repeat(40);

async function houseOf(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(path.join(tmpdir(), 'house-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  return faultsOf(readHouse(root));
}

test('small files, wide doors, rooms above their budget, names used twice and barred words are found', async () => {
  const names = Array.from({ length: 41 }, (_, nth) => `name${nth}`).join(', ');
  const faults = await houseOf({
    'core/a/index.ts': `export { ${names} } from './small.ts';\n`,
    'core/a/small.ts': 'export function read() {}\n',
    'core/b/long.ts': `${BODY.repeat(8)}export async function read() {}\n`,
    'workflows/run.ts': BODY.repeat(9),
    'docs/page.md': 'Tokens are sold for want of room.\n',
  });
  expect(faults).toEqual({
    'files below 40 lines': ['core/a/small.ts'],
    'files above 300 lines': ['core/b/long.ts', 'workflows/run.ts'],
    'doors of more than 40 names': ['core/a/index.ts'],
    'rooms above their budget': ['workflows'],
    'functions of core with the name of another': ['read'],
    'files with barred words': ['docs/page.md'],
  });
});

test('a small file that three others share stays, and so does an entry', async () => {
  const user = `import { shared } from './shared.ts';\n${BODY}`;
  const faults = await houseOf({
    'core/a/shared.ts': 'export const shared = 1;\n',
    'core/a/one.ts': user,
    'core/a/two.ts': user,
    'core/a/three.ts': user,
    'core/a/entry.ts': `import { filler } from './one.ts';\n`,
    'docs/page.md': 'The caller reads this.\n',
  });
  expect(Object.values(faults).flat()).toEqual([]);
});

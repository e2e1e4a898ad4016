import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MIGRATION_STEPS, migrationFiles } from '#lib/database/index.ts';

const LIST = new URL('../../migrations/released.sha256', import.meta.url);

test('no migration that was released is edited or taken away, and later ones come after them', async () => {
  const released = (await readFile(LIST, 'utf8')).trim().split('\n');
  expect(released.length).toBeGreaterThan(30);
  const files = (await migrationFiles()).slice(0, released.length);
  expect(await Promise.all(files.map(sumOf))).toEqual(released);
});

test('each migration has the number after that of the one before', async () => {
  const numbers = (await migrationFiles()).map((file) => Number(file.split('_', 1)[0]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

/** Returns the line that `sha256sum` writes about a file. */
async function sumOf(file: string): Promise<string> {
  const text = await readFile(MIGRATION_STEPS + file);
  return `${createHash('sha256').update(text).digest('hex')}  ${file}`;
}

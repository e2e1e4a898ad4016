import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MIGRATION_STEPS, migrationFiles, row, sql } from '#lib/database/index.ts';
import { createTestDatabase } from '#test/support/database.ts';

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

/** Tables that grow with runs, steps and requests: an index takes minutes to build where there are millions of rows. */
const LARGE =
  /\b(runs|steps|usage_ledger|usage_days|webhook_deliveries|webhook_attempts|outbox|audit_events|model_calls)\b/;

/** Lists the statements of a step that hold up the writes of a large table while they build an index. */
function blocking(step: string): string[] {
  const indexes = step.match(/create\s+(unique\s+)?index[^;`']*?\son\s+\w+/gi) ?? [];
  return indexes.filter((index) => {
    const table = index.split(/\son\s+/i).at(-1) ?? '';
    const isApart = /index concurrently/i.test(index) && /transaction: false/.test(step);
    return LARGE.test(table) && !isApart;
  });
}

test('an index of a large table is built beside its writers', async () => {
  const files = await migrationFiles();
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await readFile(MIGRATION_STEPS + file, 'utf8') })),
  );
  // Steps of before the rule do what it forbids, so it can be seen to find them.
  const found = texts.filter(({ text }) => blocking(text).length > 0).map(({ file }) => file);
  expect(found).toContain('0034_latest_runs.ts');
  expect(found.filter((file) => file >= '0039')).toEqual([]);
});

test('a step that asks for no transaction gets none', async () => {
  const testDatabase = await createTestDatabase();
  try {
    // Built concurrently, which Postgres refuses inside a transaction.
    const built = sql`select indisvalid from pg_index where indexrelid = 'runs_waits_idx'::regclass`;
    expect(await row(testDatabase.database, built)).toEqual({ indisvalid: true });
  } finally {
    await testDatabase.drop();
  }
});

/** Returns the line that `sha256sum` writes about a file. */
async function sumOf(file: string): Promise<string> {
  const text = await readFile(MIGRATION_STEPS + file);
  return `${createHash('sha256').update(text).digest('hex')}  ${file}`;
}

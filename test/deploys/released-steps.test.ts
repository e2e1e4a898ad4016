import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import released from '../../migrations/released.json' with { type: 'json' };
import { MIGRATION_STEPS, migrationFiles, sql } from '#lib/database/index.ts';
import { migrate } from '#migrations/migrate.ts';
import { createTestDatabase } from '#test/support/database.ts';

test('no migration that was released is edited or taken away, and later ones come after them', async () => {
  const hashes = Object.values(released).flatMap((files) => Object.entries(files));
  expect(hashes.length).toBeGreaterThan(10);
  const files = (await migrationFiles()).slice(0, hashes.length);
  expect(await Promise.all(files.map(async (file) => [file, await hashOf(file)]))).toEqual(hashes);
});

test('each release has its migrations on record, and its section in the changelog', async () => {
  expect(Object.keys(released).at(-1)).toBe(packageJson.version);
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const sections = Array.from(changelog.matchAll(/^## (\d\S*)/gm), ([, version]) => version);
  expect(sections.toReversed()).toEqual(Object.keys(released));
});

test('each migration has the number after that of the one before', async () => {
  const numbers = (await migrationFiles()).map((file) => Number(file.split('_', 1)[0]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

/** Tables that grow with runs, steps and requests. With millions of rows an index takes minutes to build. */
const LARGE =
  /\b(runs|steps|usage_ledger|usage_days|webhook_deliveries|webhook_attempts|outbox|audit_events|model_calls)\b/;

/** Lists the statements of a step that block the writes of an existing large table for an index. */
function blocking(step: string): string[] {
  const indexes = step.match(/create\s+(unique\s+)?index[^;`']*?\son\s+\w+/gi) ?? [];
  return indexes.filter((index) => {
    const table = index.split(/\son\s+/i).at(-1) ?? '';
    const isNew = new RegExp(`create table ${table}\\b`, 'i').test(step);
    const isApart = /index concurrently/i.test(index) && /transaction: false/.test(step);
    return LARGE.test(table) && !isNew && !isApart;
  });
}

const APART = `
  import type { Knex } from 'knex';

  export const config = { transaction: false };

  export async function up(knex: Knex): Promise<void> {
    await knex.raw('drop index concurrently if exists runs_reason_idx');
    await knex.raw('create index concurrently runs_reason_idx on runs (reason)');
  }
`;
const IN_A_TRANSACTION = APART.replace(/^.*transaction: false.*$/m, '');

test('an index of a large table is built beside its writers', async () => {
  expect(blocking(IN_A_TRANSACTION)).toHaveLength(1);
  expect(blocking(APART.replaceAll('concurrently', ''))).toHaveLength(1);
  expect(blocking(APART)).toEqual([]);
  for (const file of await migrationFiles()) {
    const found = blocking(await readFile(MIGRATION_STEPS + file, 'utf8'));
    expect({ file, found }).toEqual({ file, found: [] });
  }
});

/** Tells whether a step begins with a comment about its locks and their duration. */
function saysItsLocks(step: string): boolean {
  const [, comment = ''] = /^(?:import[^;]*;\s*)*((?:\/\*\*[^]*?\*\/)|(?:\/\/.*\n)+)/.exec(step.trim()) ?? [];
  return /\bLocks: \S.{15,}/.test(comment.replace(/\n\s*(\*|\/\/)\s?/g, ' '));
}

test('every migration after 0.1.0 says which locks it takes', async () => {
  expect(saysItsLocks(APART)).toBe(false);
  expect(saysItsLocks(`// Why.\n// Locks: access exclusive on runs, for an instant.\n${APART}`)).toBe(true);
  const later = (await migrationFiles()).filter((file) => !(file in released['0.1.0']));
  for (const file of later) {
    expect([file, saysItsLocks(await readFile(MIGRATION_STEPS + file, 'utf8'))]).toEqual([file, true]);
  }
});

test('a step that asks for no transaction gets none', async () => {
  const testDatabase = await createTestDatabase();
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-steps-'));
  try {
    await cp(MIGRATION_STEPS, folder, { recursive: true });
    const step = path.join(folder, '9999_reason.ts');
    await writeFile(step, IN_A_TRANSACTION);
    await expect(migrate(testDatabase.url, `${folder}/`)).rejects.toThrow('cannot run inside a transaction block');
    // Write the step under another name, because Node loads a module only once.
    await rm(step);
    await writeFile(path.join(folder, '9999_reason_apart.ts'), APART);
    expect(await migrate(testDatabase.url, `${folder}/`)).toEqual(['9999_reason_apart']);
    const built = sql`select indisvalid from pg_index where indexrelid = 'runs_reason_idx'::regclass`;
    expect(await testDatabase.database.row`${built}`).toEqual({ indisvalid: true });
  } finally {
    await testDatabase.drop();
    await rm(folder, { recursive: true });
  }
});

async function hashOf(file: string): Promise<string> {
  const text = await readFile(MIGRATION_STEPS + file);
  return createHash('sha256').update(text).digest('hex');
}

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '#test/support/database.ts';

test('the handbook says of every table how long it keeps its rows', async () => {
  const testDatabase = await createTestDatabase();
  try {
    const tables = await testDatabase.database.rows<{ name: string }>`
      select relname as name from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'migrations%'
    `;
    const handbook = await readFile('docs/security.md', 'utf8');
    const [, section = ''] = handbook.split('How long each table keeps its rows:');
    const [table = ''] = section.split('\n## ');
    const named = new Set([...table.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
    expect(tables.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
  } finally {
    await testDatabase.drop();
  }
});

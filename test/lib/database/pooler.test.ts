import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openDatabase, transaction } from '#lib/database/index.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

/** Reads the settings of a session, on the connection of an earlier statement. */
async function sessionOf(url: string) {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'pooler-test' });
  try {
    await database.row`select ${1}::int as one`;
    return await transaction(
      database,
      (tx) =>
        tx.row<{
          prepared: number;
          limit: string;
        }>`select count(*) as prepared, current_setting('statement_timeout') as limit from pg_prepared_statements`,
    );
  } finally {
    await database.end();
  }
}

test('behind a pooler in transaction mode nothing is left to a session', async () => {
  const url = new URL(testDatabase.url);
  // Connect directly even if the tests themselves run behind a pooler.
  url.port = new URL(inject('postgresAdminUrl')).port;
  url.searchParams.delete('pgbouncer');
  const direct = await sessionOf(url.href);
  expect(direct).toMatchObject({ limit: '30s' });
  expect(direct?.prepared).toBeGreaterThan(0);
  url.searchParams.set('pgbouncer', 'true');
  expect(await sessionOf(url.href)).toEqual({ prepared: 0, limit: '0' });
});

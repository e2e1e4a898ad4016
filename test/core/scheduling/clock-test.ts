import { test as base } from 'vitest';
import { type ClaimDeps, claimDueRoutines } from '#core/scheduling/index.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { installClock } from './clock.ts';
import { selfHosted } from './planted.ts';

/** Makes tests with a database per file, whose clock they set, and a function that claims its routines. */
export function clockTest({ poolSize = 10 } = {}) {
  return base
    .extend('poolSize', { scope: 'file' }, poolSize)
    .extend('testDatabase', { scope: 'file' }, async ({ poolSize: size }, { onCleanup }) => {
      const testDatabase = await createTestDatabase(size);
      onCleanup(() => testDatabase.drop());
      return testDatabase;
    })
    .extend('clock', { scope: 'file' }, ({ testDatabase }) => installClock(testDatabase.url))
    .extend('database', { scope: 'file' }, ({ testDatabase, clock }) => {
      // The clock has to exist before the pool opens a connection.
      void clock;
      return testDatabase.database;
    })
    .extend('deps', { scope: 'file' }, ({ database }): ClaimDeps => selfHosted(database))
    .extend(
      'claim',
      { scope: 'file' },
      ({ deps }) =>
        (over: Partial<ClaimDeps> = {}, batchSize = 500) =>
          claimDueRoutines({ ...deps, ...over }, batchSize),
    );
}

export { empty, join, raw, default as sql, type Sql } from 'sql-template-tag';
export { AT_ONCE, ownedBy, storable, storableJson } from './sql-values.ts';
export {
  afterCommit,
  databaseTime,
  isTransient,
  isUnavailable,
  openDatabase,
  persistently,
  transaction,
  withStatements,
  type Database,
  type Db,
} from './database.ts';
export { keepClock } from './clock.ts';
export { deleteBatch, eachApart, lockKey } from './batches.ts';
export {
  appliedMigrations,
  madeBeforeFirstRelease,
  MIGRATION_STEPS,
  migrationFiles,
  migrationName,
  missingMigrations,
  schemaTooOld,
} from './schema.ts';

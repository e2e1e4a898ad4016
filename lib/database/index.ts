export { default as sql, empty, join, raw, type Sql } from 'sql-template-tag';
export { AT_ONCE } from './at-once.ts';
export {
  afterCommit,
  databaseTime,
  execute,
  isTransient,
  isUnavailable,
  openDatabase,
  plannedRows,
  row,
  rows,
  transaction,
  type Database,
  type Db,
} from './database.ts';
export { deleteBatch } from './delete-batch.ts';
export { eachApart } from './each-apart.ts';
export { openListener, type Listener } from './listener.ts';
export { ownedBy } from './owned-by.ts';
export { persistently } from './persistently.ts';
export {
  madeBeforeFirstRelease,
  MIGRATION_STEPS,
  migrationFiles,
  migrationName,
  missingMigrations,
  schemaTooOld,
} from './schema.ts';
export { storable, storableJson } from './storable.ts';

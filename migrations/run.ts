/** Entry: `node migrations/run.ts` migrates the database to the current schema. */
import { startingConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { FormerData, migrate } from './migrate.ts';

const config = startingConfig('migrate');
const log = createLog({ level: config.LOG_LEVEL, name: 'migrations' });
try {
  const url = config.DATABASE_DIRECT_URL ?? config.DATABASE_URL;
  const applied = await migrate(url, undefined, (message) => log.warn(message));
  log.info({ applied }, applied.length === 0 ? 'nothing to migrate' : 'migrated');
} catch (error) {
  if (!(error instanceof FormerData)) throw error;
  log.fatal(error.message);
  process.exitCode = 1;
}

/** Entry: `node migrations/run.ts` migrates DATABASE_URL to the current schema. */
import { startingConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { migrate } from './migrate.ts';

const config = startingConfig('migrate');
const log = createLog({ level: config.LOG_LEVEL, name: 'migrations' });
const applied = await migrate(config.DATABASE_URL);
log.info({ applied }, applied.length === 0 ? 'nothing to migrate' : 'migrated');

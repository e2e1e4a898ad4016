/** Entry: `npm run keys:rotate` seals every stored secret under ENCRYPTION_KEY; exits with 1 if some cannot be read. */
import { startingConfig } from '#lib/config/index.ts';
import { openDatabase } from '#lib/database/index.ts';
import { createLog } from '#lib/log.ts';
import { createSecretBox, rotateSecrets } from '#lib/secrets/index.ts';

const config = startingConfig('keys');
const log = createLog({ level: config.LOG_LEVEL, name: 'rotate-keys' });
const database = openDatabase({
  url: config.DATABASE_URL,
  poolSize: 2,
  applicationName: 'ras-rotate-keys',
  onError: (err) => log.warn({ err }, 'an idle database connection was lost'),
});
try {
  const secrets = createSecretBox({
    current: config.ENCRYPTION_KEY,
    previous: config.ENCRYPTION_KEY_PREVIOUS,
  });
  const columns = await rotateSecrets(database, secrets);
  for (const column of columns) log.info(column, 'column done');
  const unreadable = columns.reduce((sum, column) => sum + column.unreadable, 0);
  if (unreadable > 0) {
    log.error({ unreadable }, 'neither key opens these; keep the key that opens them, and start again');
    process.exitCode = 1;
  } else {
    log.info('everything is sealed under the current key; the previous key can be deleted');
  }
} finally {
  await database.end();
}

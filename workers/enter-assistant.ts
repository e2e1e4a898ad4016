/**
 * Entry: `npm run assistants:enter -- 'Name' https://host/callback …` registers an assistant that people may connect,
 * with its return addresses, and prints its client id. An existing assistant gets these addresses in place of its own.
 */
import { enterClient } from '#core/accounts/programs/index.ts';
import { startingConfig } from '#lib/config/index.ts';
import { openDatabase } from '#lib/database/index.ts';

const [name = '', ...redirectUris] = process.argv.slice(2);
if (name === '' || redirectUris.length === 0 || !redirectUris.every(mayLeadTo)) {
  console.error("npm run assistants:enter -- 'Name' https://host/callback …");
  process.exit(1);
}
const config = startingConfig('accounts');
const database = openDatabase({
  url: config.DATABASE_URL,
  poolSize: 1,
  applicationName: 'ras-enter-assistant',
  onError: (err) => console.error(err),
});
try {
  console.log(await enterClient(database, { name, redirectUris }));
} finally {
  await database.end();
}

function mayLeadTo(uri: string): boolean {
  return URL.canParse(uri) && /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])/.test(uri);
}

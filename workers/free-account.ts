/**
 * Removes the second factor of a person who has lost it together with the recovery codes:
 * `npm run accounts:free -- ada@example.com`. Exits with 1 if no person has this address, or the person has no second
 * factor.
 */
import { freeAccount } from '#core/accounts/identity/index.ts';
import { startingConfig } from '#lib/config/index.ts';
import { openDatabase, transaction } from '#lib/database/index.ts';
import { withAsciiDomain } from '#lib/email-address.ts';

const [given = ''] = process.argv.slice(2);
const email = withAsciiDomain(given);
const config = startingConfig('accounts');
const database = openDatabase({
  url: config.DATABASE_URL,
  poolSize: 1,
  applicationName: 'ras-free-account',
  onError: (err) => console.error(err),
});
try {
  const removed = await transaction(database, (tx) => freeAccount(tx, email));
  if (removed === true) {
    console.log('The second factor is removed, and every session has ended: the password signs in.');
  } else {
    console.error(removed === false ? 'This person has no second factor.' : 'No such address.');
    process.exitCode = 1;
  }
} finally {
  await database.end();
}

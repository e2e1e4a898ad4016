/** Entry: `npm run billing:reconcile [-- ORGANIZATION …]` syncs the named customers, or all, with the processor. */
import { listCustomers, requestSync, syncOrganization } from '#core/accounts/billing/index.ts';
import { openDatabase } from '#lib/database/index.ts';
import { billingCommand } from './processor.ts';

const { config, log, processor, watch } = billingCommand('billing-reconcile');
const database = openDatabase({
  url: config.DATABASE_URL,
  poolSize: 2,
  applicationName: 'ras-billing',
  onError: (err) => log.warn({ err }, 'an idle database connection was lost'),
});
try {
  const named = process.argv.slice(2);
  const customers = await listCustomers(database);
  for (const organizationId of named.length > 0 ? named : customers) {
    if (!customers.includes(organizationId)) {
      log.error({ organizationId }, 'is no customer');
      process.exitCode = 1;
      continue;
    }
    await requestSync(database, organizationId);
    try {
      const synced = await syncOrganization({ database, processor, watch }, organizationId);
      log.info({ organizationId }, synced ? 'synchronized' : 'another process is synchronizing it');
    } catch (err) {
      log.error({ err, organizationId }, 'could not be synchronized');
      process.exitCode = 1;
    }
  }
  if (customers.length === 0) log.info('there are no customers yet');
} finally {
  await database.end();
}

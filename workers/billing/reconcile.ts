/** Entry: `npm run billing:reconcile [-- ORGANIZATION …]` lists the subscriptions of one customer or of all again. */
import { listCustomers, requestSync, syncOrganization } from '#core/billing/index.ts';
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
  const organizations = named.length > 0 ? named : await listCustomers(database);
  for (const organizationId of organizations) {
    await requestSync(database, organizationId);
    try {
      const synced = await syncOrganization({ database, processor, watch }, organizationId);
      log.info(
        { organizationId, synced },
        synced ? 'in step' : 'no customer, or under way elsewhere',
      );
    } catch (err) {
      log.error({ err, organizationId }, 'could not be brought in step');
      process.exitCode = 1;
    }
  }
} finally {
  await database.end();
}

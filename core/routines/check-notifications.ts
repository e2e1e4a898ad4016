import { assertRecipients } from '#core/identity/index.ts';
import type { Db } from '#lib/database/index.ts';
import { invalid } from '#lib/errors.ts';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { RoutineFields } from './routine.ts';

/**
 * Checks who is to be told: members only, and a monitor that the guarded client may reach.
 * @throws {AppError} `invalid_request`
 */
export async function checkNotifications(
  { database, outbound }: { database: Db; outbound: Pick<OutboundClient, 'checkUrl'> },
  projectId: string,
  { notifications: { mail, successPingUrl } }: RoutineFields,
): Promise<void> {
  if (successPingUrl !== null) {
    try {
      outbound.checkUrl(successPingUrl);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw invalid([{ path: 'notifications.successPingUrl', message: error.message }]);
    }
  }
  await assertRecipients(database, projectId, mail, 'notifications.mail');
}

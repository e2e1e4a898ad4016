import type { Core } from '#core/core.ts';
import { forgetAuditEvents } from '#core/foundation/audit/index.ts';
import { forgetIdempotencyKeys } from '#core/foundation/idempotency/index.ts';
import { forgetSignIns } from '#core/integrations/connections/index.ts';
import { eraseDeletedProjects } from '#core/upkeep/deletion/index.ts';
import { forgetSessions, forgetUnconfirmed } from '#core/accounts/identity/index.ts';
import { forgetLeads } from '#core/accounts/leads/index.ts';
import { forgetBudgetNotices } from '#core/delivery/notifications/index.ts';
import { forgetInvitations } from '#core/accounts/organizations/index.ts';
import { forgetLessons } from '#core/models/directory/index.ts';
import { forgetMessages } from '#core/foundation/outbox/index.ts';
import { forgetWork } from '#core/foundation/work/index.ts';
import { forgetPrograms } from '#core/accounts/programs/index.ts';
import { forgetBreakers } from '#core/execution/breaker/index.ts';
import { forgetFollowers, forgetLiveTexts } from '#core/execution/run-events/index.ts';
import { forgetCounts } from '#core/foundation/rate-limits/index.ts';
import { forgetDeletedSkills } from '#core/authoring/skills/index.ts';
import { forgetUsage } from '#core/usage/index.ts';
import { forgetDeliveries } from '#core/delivery/webhooks/index.ts';
import type { Database, Db } from '#lib/database/index.ts';

/** Rows deleted in one statement, so that a backlog of millions makes no long transaction. */
const BATCH = 1_000;

/** Functions that delete at most `limit` expired rows and return their number. */
const FORGET: readonly ((db: Database, limit: number) => Promise<number>)[] = [
  forgetIdempotencyKeys,
  forgetBreakers,
  forgetFollowers,
  forgetLiveTexts,
  forgetSignIns,
  eraseDeletedProjects,
  ...forgetSessions,
  ...forgetPrograms,
  forgetCounts,
  forgetInvitations,
  forgetDeletedSkills,
  ...forgetUsage,
  forgetMessages,
  forgetWork,
  forgetDeliveries,
  forgetBudgetNotices,
  forgetLeads,
  forgetLessons,
];

/** Deletes expired rows in batches until none is left; stops between two batches when `signal` aborts. */
export async function forgetExpired(
  { database, auditRetentionDays, mailer }: Pick<Core, 'database' | 'auditRetentionDays' | 'mailer'>,
  signal: AbortSignal,
): Promise<void> {
  const unconfirmed = mailer === undefined ? [] : [forgetUnconfirmed];
  const ofAudit = (db: Db, limit: number) => forgetAuditEvents(db, auditRetentionDays, limit);
  for (const forget of [...FORGET, ...unconfirmed, ofAudit]) {
    do signal.throwIfAborted();
    while ((await forget(database, BATCH)) === BATCH);
  }
}

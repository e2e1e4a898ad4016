import type { Database } from '#lib/database/index.ts';
import { sweepAttempts } from './sign-in/attempt-queries.ts';
import { settleRevocations, type OutboxDeps } from './revoke/outbox.ts';

export interface ModelHousekeepingDeps extends OutboxDeps {
  readonly database: Database;
}

/** Ends sign-ins that have run out, and hands revoked credentials back. */
export async function sweepModelConnections(deps: ModelHousekeepingDeps): Promise<void> {
  await sweepAttempts(deps.database);
  await settleRevocations(deps);
}

import type { Connection } from '@temporalio/client';
import { ensureSearchAttributes as ensure } from '#lib/temporal/index.ts';

import type { Log } from '../child.ts';

/** Registers what is missing; the server's own flag acts only when its database is created. */
export async function ensureSearchAttributes(
  connection: Connection,
  log: Log,
  namespace = 'default',
): Promise<void> {
  const registered = await ensure(connection.operatorService, namespace);
  if (registered.length > 0) {
    log(`Registered search attributes with Temporal: ${registered.join(', ')}`);
  }
}

import type { Connection } from '@temporalio/client';
import { ensureSearchAttributes as ensure } from '#lib/temporal/index.ts';

import type { Log } from '../child.ts';

/** Registers missing search attributes; the server's own flag works only when its database is created. */
export async function ensureSearchAttributes(connection: Connection, log: Log, namespace = 'default'): Promise<void> {
  const registered = await ensure(connection.operatorService, namespace);
  if (registered.length > 0) {
    log(`Registered search attributes with Temporal: ${registered.join(', ')}`);
  }
}

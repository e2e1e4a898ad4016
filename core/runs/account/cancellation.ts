import {
  cancelAtRuntime,
  type IssuedCall,
  type ModelRuntime,
} from '#core/model-connections/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

/**
 * Cancels a call at the runtime when its run is no longer wanted. A worker that stops, or has lost its step, leaves the
 * call running: the next worker asks for it under the same request id.
 */
export async function cancelUnlessWanted(
  { database, log }: { readonly database: Db; readonly log: Log },
  runtime: ModelRuntime,
  runId: string,
  call: IssuedCall,
): Promise<void> {
  const run = await row<{ wanted: boolean }>(
    database,
    sql`
      select state = 'running' and cancel_requested_at is null
          and started_at + timeout_seconds * interval '1 second' > now() as wanted
      from runs where id = ${runId}
    `,
  ).catch(() => undefined);
  if (run?.wanted === false) await cancelAtRuntime(runtime, [call], log);
}

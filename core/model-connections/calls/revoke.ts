import { rows, sql, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { ModelConnectionRef } from '../connection.ts';
import type { ModelRuntime } from '../runtime/runtime.ts';
import type { IssuedCall } from './issue.ts';

/**
 * Ends the calls that an account has under way, in the transaction that takes the account away: their responses are no
 * longer recorded.
 * @returns them, for `cancelAtRuntime` after the commit
 */
export async function endOpenCalls(
  tx: Db,
  { id, projectId }: ModelConnectionRef,
  failure: string,
): Promise<IssuedCall[]> {
  const ended = await rows<{ requestId: string; instanceId: string; epoch: number }>(
    tx,
    sql`
      update model_calls set state = 'unknown_outcome', failure = ${failure}, ended_at = now()
      where connection_id = ${id} and project_id = ${projectId} and state = 'issued'
      returning request_id as "requestId", instance_id as "instanceId", epoch
    `,
  );
  return ended.map(({ requestId, ...lease }) => ({ requestId, lease }));
}

/** Tells the runtime to give calls up. Never throws: what it does not hear of ends by its own deadline. */
export async function cancelAtRuntime(
  runtime: Pick<ModelRuntime, 'client'> | undefined,
  calls: readonly IssuedCall[],
  log: Log,
): Promise<void> {
  if (runtime === undefined) return;
  await Promise.all(
    calls.map(({ lease, requestId }) =>
      runtime.client
        .cancel(lease, requestId)
        .catch((err: unknown) => log.warn({ err, requestId }, 'a call was not cancelled')),
    ),
  );
}

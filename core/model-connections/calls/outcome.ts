import { execute, rows, sql, type Db, type Sql } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { ModelConnectionRef } from '../connection.ts';
import type { ModelRuntime } from '../runtime/runtime.ts';
import type { IssuedCall } from './issue.ts';

/** End of a call without a response: it failed, or it is unknown whether the provider was asked. */
export type CallEnd = 'failed' | 'unknown_outcome';

/**
 * Records the outcome of a call without a response; a later attempt at its step gets a request id of its own.
 * @returns false when the call had ended already, with an outcome that another attempt was given too
 */
export async function endCall(
  db: Db,
  { requestId }: Pick<IssuedCall, 'requestId'>,
  end: CallEnd,
  failure: string,
): Promise<boolean> {
  const ended = await execute(
    db,
    sql`
      update model_calls set state = ${end}, failure = ${failure}, ended_at = now()
      where request_id = ${requestId} and state = 'issued'
    `,
  );
  return ended > 0;
}

/**
 * Returns the condition under which the response of a call is recorded: the call has not ended, and the lease on the
 * runtime is the one that it was issued under.
 */
export function callHolds({ requestId, lease }: IssuedCall): Sql {
  return sql`exists (
    select from model_calls k, runtime_lease l
    where k.request_id = ${requestId} and k.state = 'issued'
      and l.instance_id = ${lease.instanceId} and l.epoch = ${lease.epoch})`;
}

/**
 * Records that a call has its response, as a statement for use as a common table expression of the one that records the
 * step.
 * @param step relation that is empty when the step is not recorded
 */
export function callSucceeded({ requestId }: IssuedCall, step: Sql): Sql {
  return sql`update model_calls k set state = 'succeeded', ended_at = now()
        from ${step} step where k.request_id = ${requestId} and k.state = 'issued'`;
}

/**
 * Records that the response of a call came too late for its step, as a statement for use as a common table expression
 * of the one that counts its usage: it has a row the first time, and none when the usage is counted already, with the
 * step or by another attempt that was given the same response.
 */
export function callCounted({ requestId }: IssuedCall): Sql {
  return sql`update model_calls set state = 'succeeded', ended_at = coalesce(ended_at, now())
        where request_id = ${requestId} and state <> 'succeeded' returning request_id`;
}

/**
 * Ends the calls that runs have under way, as a statement for use as a common table expression of the one that ends the
 * runs. Whether the provider was asked for them stays unknown.
 * @param ended relation with the `id` of each run
 */
export function callsOfRunOver(ended: Sql): Sql {
  return sql`update model_calls k set state = 'unknown_outcome', failure = 'run_ended', ended_at = now()
        from ${ended} ended where k.run_id = ended.id and k.state = 'issued'`;
}

/** Ends calls whose lease has run out without an outcome. */
export async function expireCalls(db: Db): Promise<void> {
  await execute(
    db,
    sql`
      update model_calls set state = 'unknown_outcome', failure = 'lease_over', ended_at = now()
      where state = 'issued' and leased_until < now()
    `,
  );
}

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

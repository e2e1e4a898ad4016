import { execute, sql, type Db, type Sql } from '#lib/database/index.ts';
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
 * Returns the condition under which the response of a call is recorded: nobody has ended the call, and the lease on the
 * runtime has not been taken anew since it was issued.
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

/** Ends calls whose time is over and that nobody has come back to. */
export async function expireCalls(db: Db): Promise<void> {
  await execute(
    db,
    sql`
      update model_calls set state = 'unknown_outcome', failure = 'lease_over', ended_at = now()
      where state = 'issued' and leased_until < now()
    `,
  );
}

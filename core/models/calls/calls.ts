import { type ModelConnectionRef, isUsable, useAccount } from '#core/models/connections/index.ts';
import { type ModelProviders, runningLease, type ModelRuntime } from '#core/models/providers/index.ts';
import { sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { LONELY_MS } from '#lib/envelope/index.ts';
import type { Log } from '#lib/log.ts';
import type { RuntimeLease } from '#lib/runtime-client/index.ts';

/** A call to make on an account through the runtime, for one model step. */
export interface CallOrder {
  readonly connection: ModelConnectionRef;
  readonly runId: string;
  readonly step: number;
  readonly credentialVersion: number;
  /** The most calls at a time on one account, from the provider's file. */
  readonly concurrency: number;
  /** Deadline of the call in Unix milliseconds. */
  readonly deadline: number;
  /** SQL condition for a new call: the step still awaits a response. */
  readonly wanted: Sql;
}

/** A call that may be made. The call occupies a place of its account until it has ended. */
export interface IssuedCall {
  /**
   * Id made of run, step and attempt. The id stays the same until an outcome is recorded, so that the provider is asked
   * once.
   */
  readonly requestId: string;
  /** The lease on the runtime under which the call was issued. */
  readonly lease: RuntimeLease;
}

export type Issue =
  | { readonly kind: 'issued'; readonly call: IssuedCall }
  /** The account already has as many calls as it may have at a time. */
  | { readonly kind: 'busy' }
  /** The account may not be used: it is not ready, its provider is off, or its owner is no longer a member. */
  | { readonly kind: 'unusable' }
  /** The allowance of the account is used up. */
  | { readonly kind: 'limited'; readonly until: Date }
  /** No process has the lease on the runtime. */
  | { readonly kind: 'unleased' }
  /** The step no longer waits for a response. */
  | { readonly kind: 'unwanted' };

/**
 * Issues a call of a step. An earlier call of the step without an outcome is issued again under its request id, even
 * when its worker is gone. Locks the account first, so that two calls issued at the same moment cannot take the same
 * place.
 */
export function issueCall(database: Database, providers: ModelProviders, order: CallOrder): Promise<Issue> {
  return transaction(database, async (tx) => {
    const account = await lockAccount(tx, providers, order.connection);
    if (account?.usable !== true) return { kind: 'unusable' };
    const found = await insertOrReuse(tx, order, account.limited);
    if (found === undefined) return { kind: 'unleased' };
    const { requestId, wanted, ...lease } = found;
    if (requestId !== null) return { kind: 'issued', call: { requestId, lease } };
    if (!wanted) return { kind: 'unwanted' };
    return account.limited && account.notBefore !== null
      ? { kind: 'limited', until: account.notBefore }
      : { kind: 'busy' };
  });
}

interface LockedAccount {
  readonly usable: boolean;
  readonly limited: boolean;
  readonly notBefore: Date | null;
}

function lockAccount(
  tx: Db,
  providers: ModelProviders,
  { id, projectId }: ModelConnectionRef,
): Promise<LockedAccount | undefined> {
  return tx.row<LockedAccount>`
    select ${isUsable(providers)} as usable, coalesce(c.not_before > now(), false) as limited,
      c.not_before as "notBefore"
    from model_connections c where c.id = ${id} and c.project_id = ${projectId}
    for no key update of c
  `;
}

interface Found extends RuntimeLease {
  readonly wanted: boolean;
  /** Id of the request; null when the call is not issued. */
  readonly requestId: string | null;
}

/** @returns undefined when no process has the lease on the runtime */
function insertOrReuse(tx: Db, order: CallOrder, limited: boolean): Promise<Found | undefined> {
  const { connection, runId, step, credentialVersion, concurrency } = order;
  // Keep the place occupied beyond the deadline: a call continues at the runtime after its worker is lost.
  const leasedUntil = new Date(order.deadline + LONELY_MS);
  return tx.row<Found>`
    with lease as (
      select * from ${runningLease} running
    ), earlier as (
      select request_id, attempt, state from model_calls
      where run_id = ${runId} and step_index = ${step} order by attempt desc limit 1
    ), wanted as (
      select ${order.wanted} as wanted
    ), again as (
      update model_calls k set instance_id = lease.instance_id, epoch = lease.epoch,
        credential_version = ${credentialVersion}, leased_until = ${leasedUntil}
      from lease, earlier where k.request_id = earlier.request_id and earlier.state = 'issued'
      returning k.request_id
    ), attempt as (
      select coalesce(max(attempt) + 1, 0) as number from earlier
    ), fresh as (
      insert into model_calls (request_id, project_id, connection_id, run_id, step_index, attempt, instance_id, epoch,
        credential_version, leased_until)
      select concat_ws('/', ${runId}::text, ${step}::integer, attempt.number), ${connection.projectId},
        ${connection.id}, ${runId}, ${step}, attempt.number, lease.instance_id, lease.epoch, ${credentialVersion},
        ${leasedUntil}
      from lease, attempt, wanted
      where wanted and not ${limited}::boolean
        and not exists (select from earlier where state = 'issued')
        and ${concurrency} > (
          select count(*) from model_calls
          where connection_id = ${connection.id} and state = 'issued' and leased_until > now())
      returning request_id
    ), used as (
      ${useAccount(connection.id, { isNewRun: sql`${step}::integer = 0 and attempt.number = 0`, from: sql`fresh, attempt` })}
    )
    select instance_id as "instanceId", epoch, wanted,
      coalesce((select request_id from again), (select request_id from fresh)) as "requestId"
    from lease, wanted
  `;
}

/** End of a call without a response: it failed, or it is unknown whether the provider was asked. */
export type CallEnd = 'failed' | 'unknown_outcome';

/**
 * Records the outcome of a call without a response. A later attempt at the step gets a new request id.
 * @returns false when the call had ended already: another attempt has received and recorded the same outcome
 */
export async function endCall(
  db: Db,
  { requestId }: Pick<IssuedCall, 'requestId'>,
  end: CallEnd,
  failure: string,
): Promise<boolean> {
  const ended = await db.run`
    update model_calls set state = ${end}, failure = ${failure}, ended_at = now()
    where request_id = ${requestId} and state = 'issued'
  `;
  return ended > 0;
}

/**
 * Returns the condition under which the response of a call is recorded: the call has not ended, and the lease on the
 * runtime has not changed.
 */
export function callHolds({ requestId, lease }: IssuedCall): Sql {
  return sql`exists (
    select from model_calls k, runtime_lease l
    where k.request_id = ${requestId} and k.state = 'issued'
      and l.instance_id = ${lease.instanceId} and l.epoch = ${lease.epoch})`;
}

/**
 * Returns the common table expression that marks a call as succeeded, for the statement that records the step.
 * @param step relation that is empty when the step is not recorded
 */
export function callSucceeded({ requestId }: IssuedCall, step: Sql): Sql {
  return sql`update model_calls k set state = 'succeeded', ended_at = now()
        from ${step} step where k.request_id = ${requestId} and k.state = 'issued'`;
}

/**
 * Returns the common table expression that marks a call whose response came too late for its step, for the statement
 * that counts the usage. The expression returns a row unless the usage was counted before, with the step or by another
 * attempt.
 */
export function callCounted({ requestId }: IssuedCall): Sql {
  return sql`update model_calls set state = 'succeeded', ended_at = coalesce(ended_at, now())
        where request_id = ${requestId} and state <> 'succeeded' returning request_id`;
}

/**
 * Returns the common table expression that ends the open calls of runs, for the statement that ends the runs. The
 * outcome of these calls is unknown: the provider may have been asked.
 * @param ended relation with the `id` of each run
 */
export function callsOfRunOver(ended: Sql): Sql {
  return sql`update model_calls k set state = 'unknown_outcome', failure = 'run_ended', ended_at = now()
        from ${ended} ended where k.run_id = ended.id and k.state = 'issued'`;
}

/** Ends calls whose lease has run out before an outcome was recorded. */
export async function expireCalls(db: Db): Promise<void> {
  await db.run`
    update model_calls set state = 'unknown_outcome', failure = 'lease_over', ended_at = now()
    where state = 'issued' and leased_until < now()
  `;
}

/**
 * Ends the open calls of an account, in the transaction that takes the account away: the responses to these calls are
 * no longer recorded.
 * @returns the calls, for `cancelAtRuntime` after the commit
 */
export async function endOpenCalls(
  tx: Db,
  { id, projectId }: ModelConnectionRef,
  failure: string,
): Promise<IssuedCall[]> {
  const ended = await tx.rows<{ requestId: string; instanceId: string; epoch: number }>`
    update model_calls set state = 'unknown_outcome', failure = ${failure}, ended_at = now()
    where connection_id = ${id} and project_id = ${projectId} and state = 'issued'
    returning request_id as "requestId", instance_id as "instanceId", epoch
  `;
  return ended.map(({ requestId, ...lease }) => ({ requestId, lease }));
}

/**
 * Tells the runtime to give calls up. Never throws: if the runtime does not get the message, a call ends at its
 * deadline.
 */
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

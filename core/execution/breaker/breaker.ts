import { notBeforeOf } from '#core/models/connections/index.ts';
import { sql, deleteBatch, type Sql, type Db } from '#lib/database/index.ts';
import type { RunEnding, FailureReason } from '#core/execution/run-states/index.ts';

/** Consecutive runs that failed because of the provider, after which the breaker of the account opens. */
const FAILURES_TO_OPEN = 3;

/** The first pause of an open breaker. Each further failure doubles the pause. */
const FIRST_PAUSE_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 300;

/**
 * Returns the CTE `breaker`, which records the end of a run on the breaker of its model account. The CTE reads `ended`
 * and `routine` of the same statement. Reading `routine` first locks the routine, as in a claim.
 */
export function breakerAfterRun(ending: RunEnding): Sql {
  switch (providerIs(ending)) {
    case 'unavailable':
      return sql`
        breaker as (${ending.reason !== null && WAITS_FOR_ALLOWANCE.has(ending.reason) ? awaitAllowance : countFailure})
      `;
    // Nearly always the account has no breaker: the statement then reads one empty index and locks nothing.
    case 'available':
      return sql`breaker as (
        delete from model_breakers b using ended, routine where b.account = ${accountOf(sql`ended`)} and ${counts}
      )`;
    default:
      return sql`breaker as (select)`;
  }
}

/** SQL condition: the run counts. A rehearsal does not, because it proves nothing about scheduled runs. */
const counts = sql`ended.trigger <> 'rehearsal'`;

/** Reasons that mean that the account's allowance is used up. A retry is useless before the allowance is reset. */
const WAITS_FOR_ALLOWANCE: ReadonlySet<string> = new Set<FailureReason>(['blocked_usage_limit', 'model_usage_limit']);

/** Opens the breaker until the account's allowance is reset. */
const awaitAllowance = sql`
        insert into model_breakers as b (account, failures, failed_at, pause_from, pause_until)
        select ${accountOf(sql`ended`)}, ${FAILURES_TO_OPEN}, now(), now(),
          greatest(${notBeforeOf(sql`ended.model_connection_id`)}, now() + ${FIRST_PAUSE_SECONDS} * interval '1 second')
        from ended, routine where ended.model_connection_id is not null and ${counts}
        on conflict (account) do update set failures = b.failures + 1, failed_at = now(), pause_from = now(),
          pause_until = greatest(b.pause_until, excluded.pause_until)`;

const opens = sql`b.pause_until is null and b.failures + 1 >= ${FAILURES_TO_OPEN}`;

/**
 * SQL condition: the run prolongs the pause. A run that began before the pause proves nothing new, unlike the probe and
 * later runs of people.
 */
const prolongs = sql`b.pause_from <= (select coalesce(started_at, created_at) from ended)`;

const countFailure = sql`
        insert into model_breakers as b (account, failures, failed_at)
        select ${accountOf(sql`ended`)}, 1, now() from ended, routine where ${accountOf(sql`ended`)} is not null and ${counts}
        on conflict (account) do update set
          failures = b.failures + 1,
          failed_at = now(),
          pause_from = case when ${opens} or ${prolongs} then now() else b.pause_from end,
          pause_until = case
            when ${opens} then now() + ${FIRST_PAUSE_SECONDS} * interval '1 second'
            when ${prolongs} then now() + least(2 * (b.pause_until - b.pause_from),
              ${LONGEST_PAUSE_SECONDS} * interval '1 second')
            else b.pause_until end`;

/** Failures after a proper response of the provider: the cause lies in the run. */
const AFTER_A_RESPONSE: ReadonlySet<string> = new Set<FailureReason>([
  'max_steps',
  'max_total_tokens',
  'model_refused',
  'model_empty',
  'model_wrote_call',
  'outcome_missing',
  'could_not',
  'check_failed',
  'output_truncated',
  'content_filtered',
]);

function providerIs(
  ending: Pick<RunEnding, 'state' | 'reason' | 'failureClass'>,
): 'available' | 'unavailable' | undefined {
  if (ending.failureClass === 'provider') return 'unavailable';
  const responded = ending.reason !== null && AFTER_A_RESPONSE.has(ending.reason);
  return ending.state === 'succeeded' || responded ? 'available' : undefined;
}

export interface OpenBreaker {
  readonly account: string;
  /** True when the pause is over, so that one occurrence may probe the provider. */
  readonly probeDue: boolean;
  readonly pauseUntil: Date;
}

/** A skipped occurrence, with the end of its account's pause. */
type HeldBack<T> = T & Pick<OpenBreaker, 'pauseUntil'>;

/** Chooses one occurrence as the probe for each account whose pause has ended. All other occurrences are held back. */
export function chooseProbes<T extends { readonly account: string }>(
  occurrences: readonly T[],
  breakers: readonly OpenBreaker[],
): { readonly probes: readonly T[]; readonly heldBack: readonly HeldBack<T>[] } {
  const open = new Map(breakers.map((breaker) => [breaker.account, breaker]));
  const probes = new Map<string, T>();
  const heldBack: HeldBack<T>[] = [];
  for (const occurrence of occurrences) {
    const breaker = open.get(occurrence.account);
    if (breaker === undefined) continue;
    const { probeDue, pauseUntil } = breaker;
    if (probeDue && !probes.has(occurrence.account)) probes.set(occurrence.account, occurrence);
    else heldBack.push({ ...occurrence, pauseUntil });
  }
  return { probes: [...probes.values()], heldBack };
}

export function breakerIsOpen(account: Sql): Sql {
  return sql`exists (
    select from model_breakers b where b.account = ${account} and b.pause_until is not null
  )`;
}

export const openBreakers = sql`(select count(*) from model_breakers where pause_until is not null)`;

/**
 * Locks the open breakers of these accounts in one order, so that ticks cannot deadlock. The second of two concurrent
 * ticks sees the probe that the first tick has taken.
 */
export function lockOpenBreakers(tx: Db, accounts: readonly string[]): Promise<OpenBreaker[]> {
  return tx.rows<OpenBreaker>`
    select account, pause_until <= now() as "probeDue", pause_until as "pauseUntil" from model_breakers
    where account = any(${accounts}) and pause_until is not null
    order by account for update
  `;
}

/**
 * Begins the next pause of breakers whose probe has been sent. The pause is as long as the last pause, but no longer
 * than the wait for an allowance. If the probe is lost, another probe follows after the pause.
 */
export async function takeProbes(tx: Db, accounts: readonly string[]): Promise<void> {
  if (accounts.length === 0) return;
  await tx.run`
    update model_breakers set pause_from = now(),
      pause_until = now() + least(pause_until - pause_from, ${LONGEST_PAUSE_SECONDS} * interval '1 second')
    where account = any(${accounts})
  `;
}

/** Deletes at most `limit` breakers of accounts that no run has used for a day, and returns their number. */
export function forgetBreakers(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'model_breakers',
    where: sql`greatest(failed_at, pause_until) < now() - interval '24 hours'`,
    limit,
  });
}

/**
 * Returns the model account of a run or a routine, as an SQL expression: a personal connection, or one model of the
 * managed gateway, since the gateway's models come from different providers and fail separately.
 * @param relation alias of a row with the columns `model_connection_id`, `model_provider` and `model_id`
 */
export function accountOf(relation: Sql): Sql {
  return sql`coalesce(${relation}.model_connection_id, ${relation}.model_provider || '/' || ${relation}.model_id)`;
}

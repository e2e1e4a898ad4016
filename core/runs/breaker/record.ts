import { notBeforeOf } from '#core/model-connections/index.ts';
import { empty, sql, type Sql } from '#lib/database/index.ts';
import type { RunEnding } from '../ending.ts';
import type { FailureReason } from '../states.ts';
import { accountOf } from './account.ts';
import {
  FAILURES_TO_OPEN,
  FIRST_PAUSE_SECONDS,
  LONGEST_PAUSE_SECONDS,
  providerVerdict,
} from './rule.ts';

/**
 * Records on the breaker of the model account how a run ended. It is a part of the statement that ends the run, whose
 * common table expressions `ended` (the run) and `routine` it reads; its own, `breaker`, follows a comma. Reading
 * `routine` makes sure that the routine is locked first, as in a claim.
 */
export function breakerAfterRun(ending: RunEnding): Sql {
  switch (providerVerdict(ending)) {
    case 'unavailable':
      return sql`, breaker as (${ending.reason !== null && WAITS_FOR_ALLOWANCE.has(ending.reason) ? awaitAllowance : countFailure})`;
    // Without a row, which is nearly always, this is one look into an empty index and locks nothing.
    case 'available':
      return sql`, breaker as (
        delete from model_breakers b using ended, routine where b.account = ${accountOf(sql`ended`)}
      )`;
    default:
      return empty;
  }
}

/** Reasons of runs that found their account's allowance used up: a retry is of no use before the allowance is reset. */
const WAITS_FOR_ALLOWANCE: ReadonlySet<string> = new Set<FailureReason>([
  'blocked_usage_limit',
  'model_usage_limit',
]);

/** Opens the breaker at once, until the account's allowance is reset. */
const awaitAllowance = sql`
        insert into model_breakers as b (account, failures, failed_at, pause_from, pause_until)
        select ${accountOf(sql`ended`)}, ${FAILURES_TO_OPEN}, now(), now(),
          greatest(${notBeforeOf(sql`ended.model_connection_id`)}, now() + ${FIRST_PAUSE_SECONDS} * interval '1 second')
        from ended, routine where ended.model_connection_id is not null
        on conflict (account) do update set failures = b.failures + 1, failed_at = now(), pause_from = now(),
          pause_until = greatest(b.pause_until, excluded.pause_until)`;

const opens = sql`b.pause_until is null and b.failures + 1 >= ${FAILURES_TO_OPEN}`;

/**
 * Condition for prolonging a pause: runs that had begun before it prove nothing new; only later ones, the probe or a
 * person's, do.
 */
const prolongs = sql`b.pause_from <= (select coalesce(started_at, created_at) from ended)`;

const countFailure = sql`
        insert into model_breakers as b (account, failures, failed_at)
        select ${accountOf(sql`ended`)}, 1, now() from ended, routine where ${accountOf(sql`ended`)} is not null
        on conflict (account) do update set
          failures = b.failures + 1,
          failed_at = now(),
          pause_from = case when ${opens} or ${prolongs} then now() else b.pause_from end,
          pause_until = case
            when ${opens} then now() + ${FIRST_PAUSE_SECONDS} * interval '1 second'
            when ${prolongs} then now() + least(2 * (b.pause_until - b.pause_from),
              ${LONGEST_PAUSE_SECONDS} * interval '1 second')
            else b.pause_until end`;

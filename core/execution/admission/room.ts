import { othersHaveRun, type PlanRule } from '#core/accounts/billing/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';

/** Rules of admission: the task queue whose slots count, and the limits of organizations and accounts. */
export interface AdmissionRule {
  readonly taskQueue: string;
  readonly planRule: PlanRule;
  /** Runs at a time on one account of a connected provider, by provider; 1 for a provider without an entry. */
  readonly runsAtATimeOfAccounts: Readonly<Record<string, number>>;
}

/** Time for the process that admitted a run to start its workflow, before another process may. */
export const RUN_START_LEASE = sql`interval '30 seconds'`;

/** SQL condition on `runs`: the run waits to be admitted. A held run waits for its time instead. */
export const waiting = sql`state = 'queued' and admitted_at is null and not held`;

/**
 * Returns the rank of a run within its organization, as an SQL expression: runs of a person first, then scheduled runs,
 * then runs of a backfill. Runs of equal rank are ordered by id. The index of waiting runs has the same expression.
 */
export function rankOf(run: Sql): Sql {
  return sql`(case ${run}.trigger when 'schedule' then 1 when 'backfill' then 2 else 0 end)`;
}

/**
 * SQL condition on `runs`: the run waits for an admitted run of its routine, or for a waiting run that is earlier in
 * the order. Without the second part, one statement could admit both runs.
 */
export const behindPrevious = sql`(after_previous and (
    exists (
      select from runs previous where previous.routine_id = runs.routine_id
        and previous.state in ('queued', 'running') and previous.admitted_at is not null
        and ${isWork(sql`previous.trigger`)} and previous.routine_revision > 0)
    or exists (
      select from runs earlier where earlier.routine_id = runs.routine_id
        and earlier.state = 'queued' and earlier.admitted_at is null and not earlier.held
        and ${isWork(sql`earlier.trigger`)} and earlier.routine_revision > 0
        and (${rankOf(sql`earlier`)}, earlier.id) < (${rankOf(sql`runs`)}, runs.id))))`;

/** SQL expression that is true when any run waits. Reads one entry of a small index. */
export const othersWait = sql`
  exists (select from runs w where w.state = 'queued' and w.admitted_at is null and not w.held)
`;

/** SQL condition on `runs`: the run has been admitted and has not ended. */
export const isAdmitted = sql`state in ('queued', 'running') and admitted_at is not null`;

/**
 * SQL condition on `runs`: the run sleeps until other runs have settled their reservations of a budget. Meanwhile it
 * takes no slot of the workers, but still counts against the limits of its plan and its account.
 */
export const waitsForBudget = sql`state = 'running' and waits_until is not null`;

/** SQL condition on `runs`: the run sleeps until the provider of a connection is asked again. */
export const waitsForConnection = sql`state = 'running' and waits_since is not null and waits_until is null`;

/**
 * The most runs of a project that wait for a budget at a time. Further runs stay in the queue: each waiting run asks
 * repeatedly, and a budget could hardly be granted to more runs together.
 */
export const MOST_FOR_BUDGET = 10;

/**
 * Selects one column of the live workers that take new runs. If workers have builds, only workers of the current build
 * take new runs.
 */
export function workersTakingRuns(taskQueue: string, column: Sql): Sql {
  return sql`select ${column} from worker_slots
    where task_queue = ${taskQueue} and takes_runs and expires_at > now()`;
}

/**
 * Returns the free places as an SQL expression: the slots of the workers that take new runs, less the admitted runs
 * that do not sleep. A tenth more than the slots, at least one, is admitted ahead, because starting a workflow takes
 * longer than a slot should be idle. Without a worker that takes new runs there is no room. Runs that end on an earlier
 * build take no place; a run that has not begun has no build yet, and takes a place.
 */
export function freePlaces(taskQueue: string): Sql {
  return sql`free_places(${taskQueue})`;
}

/** The share of all places that one organization may take while other organizations have runs too. */
const SHARE = sql`3 / 4`;

/**
 * Returns the places that runs of an organization may take, at least one; null for no limit while no other organization
 * has runs. Without the limit, long runs of the first organization would keep all other organizations out for hours.
 */
export function shareOf(taskQueue: string, organizationId: Sql): Sql {
  return sql`(select case when ${othersHaveRun(organizationId)}
    then greatest((sum(slots) + greatest(sum(slots) / 10, 1)) * ${SHARE}, 1) end
    from (${workersTakingRuns(taskQueue, sql`slots`)}) workers)`;
}

/** SQL condition on `runs`: the run is admitted and does not sleep, so that it takes a place of the workers. */
export const takesPlace = sql`${isAdmitted} and waits_since is null`;

/**
 * Takes the right to admit one run, as an SQL expression: true when there is a place, no run waits for it and no other
 * transaction has the lock of admission. A function of the database does this, because the count must follow the lock:
 * a single statement sees only rows from before its beginning.
 */
export function takePlace(taskQueue: string): Sql {
  return sql`take_place(${taskQueue})`;
}

/**
 * Selects the accounts of connected providers that have admitted runs, as a relation of `account` and `places`, the
 * runs that each can still take. Reads the few admitted runs, however many wait.
 */
export function accountPlaces(rule: Pick<AdmissionRule, 'runsAtATimeOfAccounts'>): Sql {
  return sql`
    select model_connection_id as account, ${runsAtATimeOn(rule, sql`min(model_provider)`)} - count(*) as places
    from runs where ${isAdmitted} and model_connection_id is not null group by model_connection_id`;
}

export function runsAtATimeOn(
  { runsAtATimeOfAccounts }: Pick<AdmissionRule, 'runsAtATimeOfAccounts'>,
  provider: Sql,
): Sql {
  return sql`coalesce((${JSON.stringify(runsAtATimeOfAccounts)}::jsonb ->> ${provider})::integer, 1)`;
}

import { runsAtATimeOf } from '#core/accounts/billing/index.ts';
import type { StartableRun } from '#core/foundation/engine/index.ts';
import { sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import {
  accountPlaces,
  isAdmitted,
  behindPrevious,
  freePlaces,
  MOST_FOR_BUDGET,
  rankOf,
  runsAtATimeOn,
  shareOf,
  RUN_START_LEASE,
  waiting,
  waitsForBudget,
  type AdmissionRule,
} from './room.ts';

const startableColumns = sql`
  runs.id, runs.project_id as "projectId", runs.organization_id as "organizationId",
  runs.routine_id as "routineId", runs.trigger, runs.timeout_seconds as "timeoutSeconds"
`;

/**
 * Admits waiting runs while there is room, at most `limit`. Organizations take turns: the next place goes to the
 * organization with the fewest admitted runs, up to its plan's runs at a time and its share of the places. Within an
 * organization, manual runs come before scheduled runs and runs of a backfill last, the oldest first. An account of a
 * connected provider takes as many runs as its provider allows; runs that wait for such an account do not hold up other
 * runs. A project that has `MOST_FOR_BUDGET` runs waiting for a budget gets no more. A lock lets one admission run at a
 * time, so that two cannot pass a limit together; it is taken only while runs wait. Walks the index of waiting runs
 * from organization to organization. Ranking all of them with a window function reached the statement timeout of 30 s
 * for a fresh burst of 10,000 on old statistics.
 * @returns the admitted runs, leased to the caller, who starts them
 */
export function admitRuns(database: Database, rule: AdmissionRule, limit: number): Promise<StartableRun[]> {
  const { taskQueue, planRule } = rule;
  return transaction(database, async (tx) => {
    await tx.row`select pg_advisory_xact_lock(hashtextextended('ras:admission', 0)), ${readInOrder}`;
    return tx.rows<StartableRun>`
      with recursive room as (
        select least(${freePlaces(taskQueue)}, ${limit})::integer as places
      ), waiting as (
        (select organization_id from runs where ${waiting} order by organization_id limit 1)
        union all
        select next.organization_id from waiting cross join lateral (
          select organization_id from runs
          where ${waiting} and organization_id > waiting.organization_id
          order by organization_id limit 1
        ) next
      ), taken as (
        select organization_id, count(*) as runs, count(*) filter (where waits_since is null) as places
        from runs where ${isAdmitted} group by organization_id
      ), accounts as materialized (
        ${accountPlaces(rule)}
      ), short as materialized (
        select project_id from runs where ${waitsForBudget} group by project_id having count(*) >= ${MOST_FOR_BUDGET}
      ), queue as (
        select candidate.id, candidate.account, candidate.provider,
          coalesce(taken.places, 0) + candidate.place as turn
        from room, waiting
        left join organizations o on o.id = waiting.organization_id
        left join taken on taken.organization_id = waiting.organization_id
        cross join lateral (
          select id, account, provider, row_number() over (order by rank, id) as place from (
            select id, ${rankOf(sql`runs`)} as rank, model_connection_id as account, model_provider as provider
            from runs
            where ${waiting} and organization_id = waiting.organization_id and (queue_until is null
            or queue_until > now())
              and not ${behindPrevious} and project_id not in (select project_id from short)
              -- Searches a hash table of the few accounts that are full, however many runs wait.
              and (model_connection_id is null or model_connection_id not in (
                select account from accounts where places <= 0))
            order by ${rankOf(sql`runs`)}, id
            limit greatest(least(room.places, ${runsAtATimeOf(planRule)} - coalesce(taken.runs, 0),
              ${shareOf(taskQueue, sql`waiting.organization_id`)} - coalesce(taken.places, 0)), 0)
          ) oldest
        ) candidate
      ), fitting as (
        select id, turn from (
          select queue.*, row_number() over (partition by account order by turn, id) as nth from queue
        ) ranked left join accounts using (account)
        where account is null or nth <= coalesce(accounts.places, ${runsAtATimeOn(rule, sql`ranked.provider`)})
      ), chosen as (
        select id from fitting order by turn, id limit (select greatest(places, 0) from room)
      )
      update runs set admitted_at = now(), start_leased_until = now() + ${RUN_START_LEASE}
      -- With plain conditions Postgres would look in the index of all open runs instead of by the id: see readInOrder.
      from chosen where runs.id = chosen.id
        and case when runs.state = 'queued' then runs.admitted_at is null else false end
      returning ${startableColumns}
    `;
  });
}

/**
 * Makes Postgres read waiting runs from the index in their order. Statistics that are older than a burst say that no
 * run waits, so Postgres considers any small index as good. With another index Postgres sorted the entries for each
 * organization and touched a million buffers for 10,000 waiting runs instead of 3,000.
 */
const readInOrder = sql`set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`;

/** Leases admitted runs whose start was never recorded: their process died, or Temporal was away. */
export function retakeUnstarted(db: Db, limit: number): Promise<StartableRun[]> {
  return db.rows<StartableRun>`
    with overdue as (
      select id from runs
      where state = 'queued' and admitted_at is not null and workflow_started_at is null
        and start_leased_until < now()
      order by start_leased_until limit ${limit}
      for update skip locked
    )
    update runs set start_leased_until = now() + ${RUN_START_LEASE}
    from overdue where runs.id = overdue.id
    returning ${startableColumns}
  `;
}

export async function recordStarts(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db.run`update runs set workflow_started_at = coalesce(workflow_started_at, now()) where id = any(${ids})`;
}

/** Releases a run whose start failed, to be taken again after the pause. */
export async function postponeStart(db: Db, id: string, pauseMs: number): Promise<void> {
  await db.run`
    update runs set start_leased_until = now() + ${pauseMs}::float8 * interval '1 millisecond'
    where id = ${id} and workflow_started_at is null
  `;
}

/** The most runs that one statement releases, so that no transaction locks many runs. */
const RELEASED_AT_ONCE = 1_000;

/** Releases the runs whose `runAt` has come. From then on they wait for admission like all other runs. */
export async function releaseDue(db: Db): Promise<void> {
  while (
    (await db.run`
      with due as (
        select id from runs where held and state = 'queued' and run_at <= now()
        order by run_at limit ${RELEASED_AT_ONCE}
        for no key update skip locked
      )
      update runs set held = false from due where runs.id = due.id
    `) === RELEASED_AT_ONCE
  );
}

import type { PlanRule } from '#core/billing/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';

/** Whose room there is, and what bounds an organization's share of it. */
export interface AdmissionRule {
  readonly taskQueue: string;
  readonly planRule: PlanRule;
  /** Runs at a time on one account of a connected provider, by provider; one where it has no entry. */
  readonly runsAtATimeOfAccounts: Readonly<Record<string, number>>;
}

/** How long whoever admitted a run has to start its workflow before another process does it. */
export const START_LEASE = sql`interval '30 seconds'`;

/** The condition of a run that waits to be admitted. */
export const waiting = sql`state = 'queued' and admitted_at is null`;

/** Whether any run waits, as an SQL expression: a look into a small index. */
export const othersWait = sql`exists (select from runs w where w.state = 'queued' and w.admitted_at is null)`;

/** The condition of a run that takes up room: it has been admitted and has not ended. */
export const admitted = sql`state in ('queued', 'running') and admitted_at is not null`;

/**
 * Returns the places that are free, as an SQL expression: the slots of live workers, less the admitted runs. A tenth
 * more than there are slots, at least one, is admitted ahead, because starting a workflow takes longer than a slot
 * should stand empty. Without a live worker there is no room.
 */
export function freePlaces(taskQueue: string): Sql {
  return sql`(
    (select coalesce(sum(slots) + greatest(sum(slots) / 10, 1), 0) from worker_slots
      where task_queue = ${taskQueue} and expires_at > now())
    - (select count(*) from runs where ${admitted})
  )`;
}

/**
 * The accounts of connected providers that have admitted runs, as a relation of `account` and `places`: how many
 * more they take. The few admitted runs are read, whatever waits.
 */
export function accountPlaces(rule: Pick<AdmissionRule, 'runsAtATimeOfAccounts'>): Sql {
  return sql`
    select model_connection_id as account, ${runsAtATimeOn(rule, sql`min(model_provider)`)} - count(*) as places
    from runs where ${admitted} and model_connection_id is not null group by model_connection_id`;
}

/** The runs at a time on an account of a provider, as an SQL expression. */
export function runsAtATimeOn(
  { runsAtATimeOfAccounts }: Pick<AdmissionRule, 'runsAtATimeOfAccounts'>,
  provider: Sql,
): Sql {
  return sql`coalesce((${JSON.stringify(runsAtATimeOfAccounts)}::jsonb ->> ${provider})::integer, 1)`;
}

import { runsAtATimeOf } from '#core/accounts/billing/index.ts';
import { empty, sql, type Db } from '#lib/database/index.ts';
import {
  accountPlaces,
  isAdmitted,
  behindPrevious,
  MOST_FOR_BUDGET,
  shareOf,
  takesPlace,
  waitsForBudget,
  waitsForConnection,
  workersTakingRuns,
  type AdmissionRule,
} from './room.ts';

/** Everything that a run can wait for. A run that has begun waits for `budget` or `connection` only. */
export const WAITS = {
  run_at: 'the run was requested for a later time',
  worker: 'no worker takes new runs',
  slot: 'the workers are busy',
  organization_limit: 'the organization has as many runs at a time as its plan allows',
  organization_share:
    'the organization has three quarters of all places for runs, and other organizations need the rest',
  account: 'the model account has as many runs at a time as the provider allows',
  previous_run: 'an earlier run of the routine is still open',
  budget:
    'other runs have reserved the rest of a budget; the run asks again within seconds, and the time that it waits does not count',
  connection:
    'the provider of a connection cannot be reached, so an expired sign-in cannot be renewed; the run asks again, and the time that it waits does not count',
  start: 'the turn of the run has come, and it is about to begin',
} as const;
export type Wait = keyof typeof WAITS;

/** Returns the reason why a run waits; null when it does not wait. */
export async function waitOf(db: Db, rule: AdmissionRule, runId: string): Promise<Wait | null> {
  const found = await db.row<{ wait: Wait | null }>`
    select case
      when ${waitsForBudget} then 'budget'
      when ${waitsForConnection} then 'connection'
      when runs.state <> 'queued' then null
      when runs.admitted_at is not null then 'start'
      when runs.held then 'run_at'
      when ${behindPrevious} then 'previous_run'
      when not exists (${workersTakingRuns(rule.taskQueue, empty)}) then 'worker'
      when (select count(*) from runs open where ${isAdmitted} and open.organization_id = o.id)
        >= ${runsAtATimeOf(rule.planRule)} then 'organization_limit'
      when exists (select from (${accountPlaces(rule)}) accounts
        where accounts.account = runs.model_connection_id and accounts.places <= 0) then 'account'
      when (select count(*) from runs short where short.organization_id = o.id and short.project_id = runs.project_id
        and short.state = 'running' and short.waits_until is not null) >= ${MOST_FOR_BUDGET} then 'budget'
      when (select count(*) from runs open where ${takesPlace} and open.organization_id = o.id)
        >= ${shareOf(rule.taskQueue, sql`o.id`)} then 'organization_share'
      else 'slot'
    end as wait
    from runs join organizations o on o.id = runs.organization_id
    where runs.id = ${runId}
  `;
  return found?.wait ?? null;
}

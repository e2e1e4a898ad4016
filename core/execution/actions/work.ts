import { z } from 'zod';
import { effectivePlan, paidPlanOf, type PlanRule } from '#core/accounts/billing/index.ts';
import { tellOfHeldCalls } from '#core/delivery/notifications/index.ts';
import { starts } from '#core/execution/runs/index.ts';
import { RECORD_PACE, type RecordKind } from '#core/foundation/work/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/**
 * Mails the people of a routine about the waiting calls of a run. The mail only links to the dashboard: a call cannot
 * be approved from the mail.
 */
export const actionHeldKind: RecordKind = {
  ...RECORD_PACE,
  async record(tx, { key: runId }) {
    const found = await tx.row<{ routineId: string; open: number }>`
      select routine_id as "routineId", count(*) as open from actions
      where run_id = ${runId} and state = 'open' group by routine_id
    `;
    if (found !== undefined) await tellOfHeldCalls(tx, { ...found, runId });
  },
};

const settledRun = z.object({ projectId: z.string(), routineId: z.string() });

/** Runs a routine once more after all actions of a run have ended. */
export function actionRunKind(deps: starts.StartDeps & { readonly planRule: PlanRule }): RecordKind {
  return {
    ...RECORD_PACE,
    async record(tx, { key: runId, payload }) {
      const { projectId, routineId } = settledRun.parse(payload);
      const tenant = await findTenant(tx, projectId);
      if (tenant === undefined) return;
      const { organizationId, paidPlan } = tenant;
      const plan = effectivePlan(deps.planRule, paidPlan);
      try {
        const startedBy = await programsBehind(tx, projectId, runId);
        await starts.startLater(deps, tx, { projectId, organizationId, plan, routineId, startedBy });
      } catch (error) {
        // Ignore a refusal, as of an archived routine or a used-up allowance: the actions are recorded in any case.
        if (!(error instanceof AppError)) throw error;
        deps.log.warn({ err: error, routineId }, 'a routine does not run again after its actions');
      }
    },
  };
}

/** Names the programs that started a run or decided about its actions: together these programs cause the next run. */
function programsBehind(db: Db, projectId: string, runId: string): Promise<string | null> {
  return db.value<string | null>`
    select string_agg(distinct program, ' ') as ids from actions, unnest(started_by) as program
    where run_id = ${runId} and project_id = ${projectId}
  `;
}

function findTenant(db: Db, projectId: string) {
  return db.row<{ organizationId: string; paidPlan: Parameters<typeof effectivePlan>[1] }>`
    select o.id as "organizationId", ${paidPlanOf(sql`o`)} as "paidPlan"
    from projects p join organizations o on o.id = p.organization_id
    where p.id = ${projectId} and p.deleted_at is null and o.deleted_at is null
  `;
}

import { execute, row, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { PLANS, type Plan } from './plans.ts';

const thisMonth = sql`date_trunc('month', now() at time zone 'utc')::date`;

/**
 * Counts one run against this month's allowance (calendar month, UTC), as a statement for use as a CTE. It returns a
 * row, or none when the allowance is used up or the condition does not hold.
 */
export function takeOneRun(organizationId: string, plan: Plan, condition: Sql): Sql {
  return sql`
    insert into monthly_runs as m (organization_id, month, runs)
    select ${organizationId}, ${thisMonth}, 1 ${condition}
    on conflict (organization_id, month) do update set runs = m.runs + 1
      where m.runs < ${PLANS[plan].runsPerMonth}
    returning m.runs
  `;
}

/**
 * Counts up to `wanted` runs against this month's allowance and tells how many it granted. The row stays locked to
 * the end of the transaction, so that no two claims are granted the same run.
 */
export async function takeRuns(
  tx: Db,
  input: { organizationId: string; plan: Plan; wanted: number },
): Promise<number> {
  const used = await row<{ runs: number }>(
    tx,
    sql`
      insert into monthly_runs as m (organization_id, month, runs)
      values (${input.organizationId}, ${thisMonth}, 0)
      on conflict (organization_id, month) do update set runs = m.runs
      returning m.runs
    `,
  );
  const left = Math.max(PLANS[input.plan].runsPerMonth - (used?.runs ?? 0), 0);
  const granted = Math.min(input.wanted, left);
  if (granted > 0) {
    await execute(
      tx,
      sql`
        update monthly_runs set runs = runs + ${granted}
        where organization_id = ${input.organizationId} and month = ${thisMonth}
      `,
    );
  }
  return granted;
}

export function runsExceeded(plan: Plan): AppError {
  const allowance = PLANS[plan].runsPerMonth;
  return new AppError(
    'allowance_exceeded',
    `The ${plan} plan allows ${allowance} runs a month, and they are used up.`,
  );
}

/**
 * Refuses an activation beyond the plan. Locks the organization's row until the end of the transaction, so that two
 * activations cannot both take the last place.
 * @throws {AppError} `allowance_exceeded` when as many routines are active as the plan allows
 */
export async function assertMayActivate(tx: Db, organizationId: string, plan: Plan): Promise<void> {
  await row(tx, sql`select id from organizations where id = ${organizationId} for no key update`);
  if (await mayActivate(tx, organizationId, plan)) return;
  throw new AppError(
    'allowance_exceeded',
    `The ${plan} plan allows ${PLANS[plan].activeRoutines} active routines, and there are as many.`,
  );
}

/** Tells whether the plan has room for one more active routine. */
export async function mayActivate(db: Db, organizationId: string, plan: Plan): Promise<boolean> {
  const active = await row<{ count: number }>(
    db,
    sql`
      select count(*) as count from routines r
      join projects p on p.id = r.project_id
      where p.organization_id = ${organizationId} and r.state = 'active'
    `,
  );
  return (active?.count ?? 0) < PLANS[plan].activeRoutines;
}

import { recordAudit, SYSTEM } from '#core/audit/index.ts';
import type { PaidPlan } from '#core/identity/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import type { PaidAccess } from './access.ts';

/** Stores what an organization has paid for, and leaves an audit event when that is another plan than before. */
export async function grant(
  tx: Db,
  organizationId: string,
  access: PaidAccess | undefined,
): Promise<void> {
  const plan = access?.plan ?? null;
  const before = await row<{ plan: PaidPlan | null }>(
    tx,
    sql`
      with before as (
        select id, paid_plan from organizations where id = ${organizationId} for no key update
      )
      update organizations o set paid_plan = ${plan}, paid_until = ${access?.until ?? null},
        period_start = ${access?.periodStart ?? null}, period_end = ${access?.periodEnd ?? null}
      from before where o.id = before.id
      returning before.paid_plan as plan
    `,
  );
  if (before === undefined || before.plan === plan) return;
  await recordAudit(tx, {
    organizationId,
    by: SYSTEM,
    action: 'plan.changed',
    targetId: organizationId,
    details: { from: before.plan ?? 'free', to: plan ?? 'free' },
  });
}

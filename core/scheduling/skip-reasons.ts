import { effectivePlan, takeRuns, type PlanRule } from '#core/accounts/billing/index.ts';
import type { Routine } from '#core/authoring/routines/index.ts';
import { chooseProbes, lockOpenBreakers, takeProbes } from '#core/execution/breaker/index.ts';
import { inTheWay } from '#core/execution/runs/index.ts';
import type { RunReason } from '#core/execution/run-states/index.ts';
import { limitsOf, overBudget, tooLittleLeft, type OperatorCap } from '#core/usage/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import type { DueRoutine } from './due-routines.ts';

export interface SkipRules {
  readonly planRule: PlanRule;
  /** Returns true when routines of this model provider may run now. */
  readonly providerEnabled: (provider: string) => boolean;
  readonly maxCostUsdPerOrganization?: OperatorCap;
}

/** Decisions about the occurrences that would run, by routine. */
export interface Verdicts {
  /** The reasons why occurrences are skipped. */
  readonly reasons: ReadonlyMap<string, RunReason>;
  /** Details beyond the reasons, in words. */
  readonly details: ReadonlyMap<string, string>;
  /** Routines whose run waits until no earlier one is open. */
  readonly afterPrevious: ReadonlySet<string>;
  /** Routines whose open runs are cancelled for the new one. */
  readonly cancelPrevious: readonly string[];
}

/**
 * Judges the occurrences that would run. Takes the allowance last, so that only occurrences without another obstacle
 * use it up, and probes an account only with an occurrence that then runs.
 */
export async function judgeOccurrences(tx: Db, rules: SkipRules, candidates: readonly DueRoutine[]): Promise<Verdicts> {
  const reasons = new Map<string, RunReason>();
  const passOver = (routines: readonly { readonly id: string }[], reason: RunReason) => {
    for (const { id } of routines) if (!reasons.has(id)) reasons.set(id, reason);
  };
  const isPutOff = ({ notBefore, now }: DueRoutine) => notBefore !== null && notBefore > now;
  passOver(candidates.filter(isPutOff), 'put_off');
  const disabled = candidates.filter(({ provider }) => !rules.providerEnabled(provider));
  passOver(disabled, 'provider_disabled');
  const overlapping = await overlaps(tx, candidates);
  passOver(overlapping.filter(isPassedOver), 'overlap');
  const limits = candidates.map((routine) =>
    limitsOf({ ...routine, routineId: routine.id }, rules.maxCostUsdPerOrganization),
  );
  const over = await overBudget(tx, limits);
  const overspent = candidates.filter((_, index) => over.has(index));
  passOver(overspent, 'budget_exceeded');
  const left = () => candidates.filter(({ id }) => !reasons.has(id));
  const { probes, heldBack } = await behindBreakers(tx, left());
  passOver(heldBack, 'provider_unavailable');
  passOver(await overAllowance(tx, rules.planRule, left()), 'allowance_exceeded');
  const probing = probes.filter(({ id }) => !reasons.has(id));
  await takeProbes(
    tx,
    probing.map(({ account }) => account),
  );
  const waiting = overlapping.filter(({ id }) => !reasons.has(id));
  return {
    reasons,
    details: new Map([
      ...candidates.flatMap(({ id }, index): [string, string][] => {
        const limit = reasons.get(id) === 'budget_exceeded' ? over.get(index) : undefined;
        return limit === undefined ? [] : [[id, tooLittleLeft(limit)]];
      }),
      ...heldBack.map(({ id, pauseUntil }): [string, string] => [
        id,
        `The model account is tried again from ${pauseUntil.toISOString()}.`,
      ]),
    ]),
    afterPrevious: new Set(waiting.map(({ id }) => id)),
    cancelPrevious: waiting.filter(({ overlap }) => overlap === 'cancel_previous').map(({ id }) => id),
  };
}

interface Overlap {
  readonly id: string;
  readonly overlap: Routine['overlap'];
  /** True when one of the routine's open runs has not begun. */
  readonly queued: boolean;
  /**
   * True when all of its open runs give way: runs of a backfill, and runs whose waiting time is over. The new
   * occurrence runs ahead of them, or after one that has been admitted.
   */
  readonly onlyYielding: boolean;
}

/** `queue` keeps one occurrence waiting, as Temporal's BufferOne does; `cancel_previous` always runs. */
function isPassedOver({ overlap, queued, onlyYielding }: Overlap): boolean {
  if (onlyYielding) return false;
  return overlap === 'skip' || (overlap === 'queue' && queued);
}

/**
 * SQL condition on `runs`: this tick or the next skips the run as `queue_expired`. Many runs may wait for just as long
 * as the schedule's interval, and the occurrence that falls due then must not be lost with them.
 */
const isAboutToExpire = sql`(state = 'queued' and coalesce(queue_until < now() + interval '5 seconds', false))`;

/** Finds the routines with open runs whose overlap policy forbids another run. */
async function overlaps(tx: Db, routines: readonly DueRoutine[]): Promise<Overlap[]> {
  const minding = new Map(
    routines.filter(({ overlap }) => overlap !== 'allow').map(({ id, overlap }) => [id, overlap]),
  );
  if (minding.size === 0) return [];
  const open = await tx.rows<Omit<Overlap, 'overlap'>>`
    select routine_id as id, coalesce(bool_or(state = 'queued') filter (where not yields), false) as queued,
      bool_and(yields) as "onlyYielding"
    from runs cross join lateral (select not (${inTheWay}) or ${isAboutToExpire} as yields) its
    where routine_id = any(${[...minding.keys()]}) and state in ('queued', 'running') and not held and routine_revision > 0
    group by routine_id
  `;
  return open.map((found) => ({ ...found, overlap: minding.get(found.id) ?? 'skip' }));
}

async function behindBreakers(tx: Db, routines: readonly DueRoutine[]) {
  const behind = routines.filter(({ breakerOpen }) => breakerOpen);
  if (behind.length === 0) return chooseProbes(behind, []);
  const accounts = new Set(behind.map(({ account }) => account));
  return chooseProbes(behind, await lockOpenBreakers(tx, [...accounts]));
}

/** Takes the allowances of organizations in the order of their ids, so that ticks cannot deadlock. */
async function overAllowance(tx: Db, planRule: PlanRule, routines: readonly DueRoutine[]): Promise<DueRoutine[]> {
  const byOrganization = Map.groupBy(routines, ({ organizationId }) => organizationId);
  const refused: DueRoutine[] = [];
  for (const organizationId of [...byOrganization.keys()].toSorted()) {
    const wanted = byOrganization.get(organizationId) ?? [];
    const plan = effectivePlan(planRule, wanted[0]?.paidPlan ?? null);
    const granted = await takeRuns(tx, { organizationId, plan, wanted: wanted.length });
    refused.push(...wanted.slice(granted));
  }
  return refused;
}

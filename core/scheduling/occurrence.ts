import { effectivePlan, takeRuns, type Plan, type PlanRule } from '#core/accounts/billing/index.ts';
import type { Routine } from '#core/authoring/routines/index.ts';
import { chooseProbes, lockOpenBreakers, takeProbes } from '#core/execution/breaker/index.ts';
import { reasonAsMessage, type RunReason } from '#core/execution/run-states/index.ts';
import { inTheWay, type occurrences } from '#core/execution/runs/index.ts';
import type { Timing } from '#core/foundation/timetable/index.ts';
import { limitsOf, overBudget, tooLittleLeft, type Budgets, type OperatorCap } from '#core/usage/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { nextInTimetable, timesBetween, type Timetable } from '#lib/schedule/index.ts';

export type OccurrenceRow = Parameters<typeof occurrences.insertOccurrences>[1][number];

export interface DueSchedule {
  readonly timetable: Timetable;
  readonly misfire: Routine['misfire'];
  /** Instant of the timetable at which the routine was due, not after `now`. */
  readonly dueAt: Date;
  /** Latest recorded occurrence. Neither this occurrence nor an earlier one is recorded again. */
  readonly accountedUntil: Date | null;
  /** The present time, less the routine's jitter. */
  readonly now: Date;
}

interface PassedOver {
  readonly count: number;
  readonly from: Date;
  readonly until: Date;
}

export interface Decision {
  /** The occurrence that gets a run. */
  readonly run: Date | undefined;
  /** The occurrences that were missed and get no run. */
  readonly missed: PassedOver | undefined;
  /** The first unrecorded occurrence after `now`; undefined when the window has no more. */
  readonly next: Date | undefined;
}

/** The most delay with which an occurrence still runs under `misfire: skip`; ticks alone delay it by up to a minute. */
const MISFIRE_GRACE_MS = 5 * 60_000;

/** The most occurrences that are counted: about two years of a routine that is due every minute. */
const MAX_COUNTED = 1_000_000;

/**
 * Decides about every occurrence since the due occurrence: the latest occurrence starts a run, and all earlier
 * occurrences are missed. Under `misfire: skip` a latest occurrence that is late is missed too.
 */
export function decide(due: DueSchedule): Decision {
  const { timetable, now } = due;
  const first = firstUnaccounted(due);
  // Do nothing: a clock set back, or a saved schedule, may make an occurrence due that is recorded already.
  if (first === undefined || first > now) return { run: undefined, missed: undefined, next: first };
  const later = timesBetween(timetable, first, now, MAX_COUNTED);
  const latest = later.last ?? first;
  const next = nextInTimetable(timetable, now);
  const late = now.getTime() - latest.getTime() > MISFIRE_GRACE_MS;
  if (due.misfire === 'skip' && late) {
    return { run: undefined, missed: { count: later.count + 1, from: first, until: latest }, next };
  }
  if (later.count === 0) return { run: latest, missed: undefined, next };
  // Count at most one, because only the last missed occurrence is needed now.
  const before = timesBetween(timetable, first, new Date(latest.getTime() - 1), 1);
  return { run: latest, missed: { count: later.count, from: first, until: before.last ?? first }, next };
}

function firstUnaccounted({ timetable, dueAt, accountedUntil }: DueSchedule): Date | undefined {
  if (accountedUntil === null || accountedUntil < dueAt) return dueAt;
  return nextInTimetable(timetable, accountedUntil);
}

export interface DueRoutine extends Timing {
  readonly projectId: string;
  readonly organizationId: string;
  readonly paidPlan: Plan | null;
  readonly provider: string;
  /** The model account that the routine's runs use, and whether the breaker of that account was open a moment ago. */
  readonly account: string;
  readonly breakerOpen: boolean;
  readonly overlap: Routine['overlap'];
  readonly misfire: Routine['misfire'];
  readonly budgets: Budgets;
  /** The instant before which the routine's occurrences are skipped; null for none. */
  readonly notBefore: Date | null;
  /** Next time of the routine, including its jitter. */
  readonly dueAt: Date;
  /** Latest recorded occurrence, run or skipped. */
  readonly accountedUntil: Date | null;
  /** The database's time, so that ticks agree on machines whose clocks differ. */
  readonly now: Date;
}

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
  /** Routines whose run waits until no earlier run is open. */
  readonly afterPrevious: ReadonlySet<string>;
  /** Routines whose open runs are cancelled for the new run. */
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
   * True when all of the routine's open runs give way: runs of a backfill, and runs whose waiting time is over. The new
   * occurrence runs ahead of these runs, or after a run that has been admitted.
   */
  readonly onlyYielding: boolean;
}

/**
 * Tells whether the overlap policy skips an occurrence. `queue` keeps one occurrence waiting, as Temporal's BufferOne
 * does; `cancel_previous` always runs.
 */
function isPassedOver({ overlap, queued, onlyYielding }: Overlap): boolean {
  if (onlyYielding) return false;
  return overlap === 'skip' || (overlap === 'queue' && queued);
}

/**
 * SQL condition on `runs`: this tick or the next skips the run as `queue_expired`. If the longest wait equals the
 * schedule's interval, the run expires as the next occurrence falls due, and must not make the overlap policy skip that
 * occurrence.
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
    where routine_id = any(${[...minding.keys()]}) and state in ('queued', 'running') and not held
      and routine_revision > 0
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

/** The decision about the occurrence that would run. */
export interface Judgement {
  /** The reason for which the occurrence is skipped; undefined when the occurrence runs. */
  readonly reason?: RunReason | undefined;
  readonly detail?: string | undefined;
  readonly afterPrevious?: boolean;
}

export function occurrenceRows(
  routineId: string,
  { run, missed }: Pick<Decision, 'run' | 'missed'>,
  { reason, detail, afterPrevious = false }: Judgement,
): OccurrenceRow[] {
  const row = (scheduledFor: Date) => ({ id: newId('run'), routine_id: routineId, scheduled_for: scheduledFor });
  const skipped = ({ count, from, until }: PassedOver, why: RunReason, message: string | undefined): OccurrenceRow => ({
    ...row(from),
    state: 'skipped',
    reason: why,
    error_message: message ?? reasonAsMessage(why),
    skipped_count: count,
    skipped_until: until,
    after_previous: false,
  });
  const found = missed === undefined ? [] : [skipped(missed, 'misfire', undefined)];
  if (run === undefined) return found;
  if (reason !== undefined) return [...found, skipped({ count: 1, from: run, until: run }, reason, detail)];
  const queued: OccurrenceRow = {
    ...row(run),
    state: 'queued',
    reason: null,
    error_message: null,
    skipped_count: null,
    skipped_until: null,
    after_previous: afterPrevious,
  };
  return [...found, queued];
}

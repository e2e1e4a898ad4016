import type { ModelOption } from '#core/models/directory/index.ts';
import { failure, type FailureReason } from '#core/execution/run-states/index.ts';
import { waitsForBudget } from '#core/execution/admission/index.ts';
import {
  isLimited,
  limitInWords,
  limitsOf,
  MIN_OUTPUT_TOKENS,
  RAISED_BY,
  reserve,
  tooLittleLeft,
  type ScopeLimits,
} from '#core/usage/index.ts';
import { empty, sql, type Sql } from '#lib/database/index.ts';
import type { StepRun } from './begin-step.ts';
import type { StepsCore } from './model-call.ts';
import type { PreparedStep } from './prepare.ts';
import { delayAfter, Stop, takeBackAttempt } from './stop.ts';
import { settleLostCalls } from './unanswered-calls.ts';

/** The output tokens that a model step may use. */
export interface GrantedOutput {
  /** The most output tokens; undefined leaves the limit to the provider. */
  readonly maxOutputTokens: number | undefined;
  /** Reason for ending the run if the model reaches `maxOutputTokens`; set when a limit lowered that number. */
  readonly cutBy: FailureReason | undefined;
  /** True when the step has a reservation, which a call without a response must release. */
  readonly isHeld: boolean;
}

/** Output tokens that are reserved if neither the routine nor the model directory limits them. */
const DEFAULT_OUTPUT_TOKENS = 16_384;

/**
 * Output tokens for a model without figures. Servers refuse more than their window, and this number may fill a small
 * window.
 */
const UNKNOWN_OUTPUT_TOKENS = 4_096;

/** Time that a step has after its call to record the response, before its reservation expires. */
const RECORD_MS = 30_000;

const HELD =
  'Other runs held what was left of a budget for longer than limits.maxQueueSeconds. The budget can be raised, or limits.maxOutputTokens lowered.';

/**
 * Reserves the most that a model step can use: counted input, and output. A run without a limit costs no statement.
 * @throws {Stop} when a limit refuses the step, or when other runs have reserved the rest and a later attempt has to
 * perform the step
 */
export async function reserveStep(
  deps: Pick<StepsCore, 'admission' | 'caller' | 'database' | 'log' | 'maxCostUsdPerOrganization' | 'metrics'>,
  run: StepRun,
  { option, countInput, call: { signal } }: Pick<PreparedStep, 'call' | 'option' | 'countInput'>,
): Promise<GrantedOutput> {
  const limits = limitsOf({ ...run, provider: run.model.provider }, deps.maxCostUsdPerOrganization);
  if (!limits.some(isLimited) && run.maxTotalTokens === null) {
    if (run.inLine) {
      await deps.database.run`${leaveLine(run)}`;
      deps.admission.nudge();
    }
    const unlimited = isUnknown(option) ? UNKNOWN_OUTPUT_TOKENS : undefined;
    const maxOutputTokens = run.maxOutputTokens ?? unlimited;
    return { maxOutputTokens, cutBy: undefined, isHeld: false };
  }
  const overBudget: FailureReason = run.modelSteps === 0 ? 'blocked_budget' : 'budget_exceeded';
  const unpriced = limitOnUnpriced(limits, option);
  if (unpriced !== undefined) throw Stop.fails(overBudget, unpriced);
  const inputTokens = countInput();
  const wanted = run.maxOutputTokens ?? outputBound(option, inputTokens);
  const left = run.maxTotalTokens === null ? wanted : run.maxTotalTokens - run.totalTokens - inputTokens;
  if (left < Math.min(wanted, MIN_OUTPUT_TOKENS)) throw Stop.fails('max_total_tokens', runLimitInWords(run));
  const outputTokens = Math.min(wanted, left);
  const cutByRun = outputTokens < wanted ? 'max_total_tokens' : undefined;

  // The first run in line looks often, so that a free amount does not stay idle.
  const [firstMs, laterMs] = [delayAfter(run.stepAgeMs, 3_000), delayAfter(run.stepAgeMs)];
  const reservation = await reserve(
    deps.database,
    {
      runId: run.runId,
      index: run.index,
      attempt: run.attempt,
      limits,
      inputTokens,
      outputTokens,
      prices: option.prices,
      maxRunTokens: run.maxTotalTokens,
      leaseMs: Math.min(run.remainingMs, deps.caller.timeoutMs) + RECORD_MS,
      countsIfLost: run.model.connectionId === null,
    },
    {
      begun: attemptUnderWay(run),
      waiters: waitersBeside(run, limits),
      after: sql`taken_back as (
        ${takeBackAttempt(run)} and exists (select from room where verdict = 'wait') returning run_id
      ), waits as (
        update runs set waits_since = now(), waits_until = now() + interval '1 millisecond'
          * case when ahead = 0 then ${firstMs}::integer else ${laterMs}::integer end
        from room where id = ${run.runId} and exists (select from taken_back)
      )${run.inLine ? sql`, in_line_no_more as (${leaveLine(run)} and exists (select from granted))` : empty}`,
    },
  );
  switch (reservation?.verdict) {
    case undefined:
      throw Stop.overtaken();
    case 'exceeded': {
      const { passedLimit } = reservation;
      const detail = passedLimit && tooLittleLeft(passedLimit);
      throw Stop.ends({ ...failure(overBudget, detail), passedLimit });
    }
    case 'run_exceeded':
      throw Stop.fails('max_total_tokens', runLimitInWords(run));
    case 'wait':
      if (run.patienceMs <= 0) throw Stop.fails('budget_exceeded', HELD);
      // Release the reservations of workers that died, to make room.
      await settleLostCalls(deps, signal, run);
      // Let another run be admitted, because this run leaves its place.
      if (!run.inLine) deps.admission.nudge();
      throw Stop.waits(reservation.ahead === 0 ? firstMs : laterMs);
    case 'granted': {
      const { maxOutputTokens } = reservation;
      const cutBy = maxOutputTokens < outputTokens ? 'budget_exceeded' : cutByRun;
      // Let another run of the project be admitted, because it may wait for the budget now.
      if (run.inLine) deps.admission.nudge();
      return { maxOutputTokens, cutBy, isHeld: true };
    }
  }
}

function isUnknown({ maxOutputTokens, contextTokens, served }: ModelOption): boolean {
  return maxOutputTokens === null && contextTokens === null && served !== null;
}

export function outputBound(option: ModelOption, inputTokens: number): number {
  if (isUnknown(option)) return UNKNOWN_OUTPUT_TOKENS;
  const { maxOutputTokens, contextTokens } = option;
  const room = Math.max((contextTokens ?? Infinity) - inputTokens, MIN_OUTPUT_TOKENS);
  return Math.min(maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS, room);
}

/**
 * Locks the run before its step, as every other statement does. The lock is not `for share`: the same statement changes
 * a run that must wait, and two statements that share a lock would deadlock.
 */
function attemptUnderWay({ runId, index, attempt }: StepRun) {
  return sql`
        with live as materialized (
          select id, input_tokens + output_tokens as tokens from runs
          where id = ${runId} and state = 'running' for no key update
        )
        select live.tokens as run_tokens from live join steps s on s.run_id = live.id
        where s.run_id = ${runId} and s.index = ${index} and s.state = 'started' and s.attempt = ${attempt}
        for no key update of s`;
}

/** Time after which a run that does not return from its sleep loses its place in line. */
const LATE = sql`interval '30 seconds'`;

/**
 * Counts the other runs that wait for the widest budget that limits this run, or for a budget inside that budget: all
 * these runs as `others`, and the older runs, which have priority, as `ahead`.
 */
function waitersBeside({ runId, organizationId }: StepRun, limits: readonly ScopeLimits[]): Sql {
  const widest = limits.find(isLimited);
  if (widest === undefined) return sql`select 0::bigint as others, 0::bigint as ahead`;
  return sql`
        select count(*) as others, count(*) filter (where id < ${runId}) as ahead from runs
        where ${waitsForBudget} and waits_until > now() - ${LATE} and organization_id = ${organizationId}
          and ${widest.scopeId} in (organization_id, project_id, routine_id) and id <> ${runId}`;
}

function leaveLine({ runId }: StepRun): Sql {
  return sql`update runs set waits_until = null where id = ${runId}`;
}

/** Names the cost limit that refuses a model without prices, and who may lift the limit; undefined without one. */
export function limitOnUnpriced(
  limits: readonly ScopeLimits[],
  { prices }: Pick<ModelOption, 'prices'>,
): string | undefined {
  const limit = limits.find(({ maxCostUsdPerMonth }) => maxCostUsdPerMonth !== null);
  if (prices !== null || limit === undefined) return undefined;
  const { costScope: scope, maxCostUsdPerMonth } = limit;
  const words = limitInWords({ scope, name: 'maxCostUsdPerMonth', max: maxCostUsdPerMonth ?? '' });
  return `The model has no prices, so ${words} refuses it. The limit can be lifted by ${RAISED_BY[scope]}.`;
}

export function runLimitInWords({ maxTotalTokens }: StepRun): string {
  return `The run reached limits.maxTotalTokens (${maxTotalTokens}), or too few tokens were left for a step. The limit can be raised by ${RAISED_BY.routine}.`;
}

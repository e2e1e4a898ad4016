import { readRoutine, type ProvenRoutine } from '#core/routines/index.ts';
import { resolveSkills } from '#core/skills/index.ts';
import {
  offeredTools,
  offeredToolsJson,
  ownTools,
  type OfferedToolJson,
} from '#core/tools/index.ts';
import {
  budgetColumns,
  costOf,
  limitsOf,
  type Budgets,
  type OperatorCap,
  type ScopeLimits,
} from '#core/usage/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { failure } from './ending.ts';
import { estimateRun, findQuoted, mostOfRun, type Amount, type RunEstimate } from './estimate.ts';
import { countInput } from './model-usage.ts';
import { openingMessages, PREAMBLE, type Opening } from './opening.ts';
import { toolSet } from './plan-tool-calls.ts';
import { preflight, type Blocked, type PreflightDeps, type PreflightRun } from './preflight.ts';
import { previousRunJson, previousRunOf, type PreviousRunJson } from './previous-run.ts';
import { renderPrompt } from './prompt.ts';
import { asksForData, previousDataJson, type PreviousData } from './result/previous-data.ts';
import { limitInTheWay, limitOnUnpriced, type WantedStep } from './refused-step.ts';
import { outputBound } from './reserve-step.ts';
import type { FailureReason } from './states.ts';

export interface PreviewDeps extends PreflightDeps {
  readonly maxCostUsdPerOrganization?: OperatorCap;
}

/** The run that would begin now, up to the first call of its model. */
export interface Preview {
  readonly preamble: string;
  /** Undefined where the text cannot be rendered; `blocked` then has the reason. */
  readonly opening: Opening | undefined;
  readonly skills: readonly { readonly reference: string; readonly name: string }[];
  readonly tools: PreflightRun['tools'];
  /** The reason why the run would end before its model is called; undefined where it would not. */
  readonly blocked: { readonly reason: FailureReason; readonly message: string } | undefined;
  readonly estimate: {
    /** Estimated tokens of the first step's input; undefined without a text. */
    readonly inputTokens: number | undefined;
    /** Cost of the first step's input alone, and the most that the limits allow. */
    readonly least: Amount;
    readonly most: Amount;
    readonly typical: RunEstimate;
  };
}

/**
 * Shows what a run of a routine would be told, may call and may cost, and whether its preflight would let it begin. It
 * creates no run, calls no model and writes nothing, except that a sign-in which is due for renewal is renewed, as by
 * any preflight.
 * @throws {AppError} `routine_not_found`, `invalid_variable` for a variable that the routine does not have
 */
export async function previewRun(
  deps: PreviewDeps,
  input: {
    projectId: string;
    organizationId: string;
    id: string;
    variables: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
): Promise<Preview> {
  const { database } = deps;
  const routine = await readRoutine(database, input.projectId, input.id);
  assertKnown(routine, input.variables);
  const { run, budgets } = await plannedRun(database, routine, input.variables);
  // Its gate is not asked, so what that would see is left out of the text.
  const ready = await preflight(deps, run, signal, async () => ({ verdict: null }));
  if ('outcome' in ready) throw new Error('nothing ends a run that is never made');
  const skills = await resolveSkills(database, deps.skills, run.projectId, run.skills);
  const opening = 'reason' in ready ? renderPrompt({ ...run, skills, runId: run.id }) : ready;
  const option = await findQuoted(deps.models, routine);
  const spender = { ...input, routineId: routine.id, provider: run.model.provider, budgets };
  const limits = limitsOf(spender, deps.maxCostUsdPerOrganization);
  const resultSchema = option?.structuredOutputs === true ? run.resultForm?.schema : undefined;
  const call = { instructions: PREAMBLE, tools: toolSet(run.tools), resultSchema };
  const inputTokens =
    opening === undefined ? undefined : countInput({ ...call, messages: openingMessages(opening) });
  const blocked =
    'reason' in ready
      ? ready
      : await overBudgets(deps, limits, {
          option: ready.option,
          inputTokens: inputTokens ?? 0,
          outputTokens: run.maxOutputTokens ?? outputBound(ready.option, inputTokens ?? 0),
        });
  return {
    preamble: PREAMBLE,
    opening,
    skills,
    tools: run.tools,
    blocked: blocked && {
      reason: blocked.reason,
      message: failure(blocked.reason, blocked.detail).errorMessage ?? '',
    },
    estimate: {
      inputTokens,
      least: {
        tokens: inputTokens ?? null,
        costUsd:
          inputTokens === undefined ? null : costOf(inputOf(inputTokens), option?.prices ?? null),
      },
      most: mostOfRun(routine.limits, option),
      typical: await estimateRun(deps, routine),
    },
  };
}

/** Checks the budgets, as a run does when it reserves its first step. */
async function overBudgets(
  { database }: PreviewDeps,
  limits: readonly ScopeLimits[],
  step: WantedStep,
): Promise<Blocked | undefined> {
  const detail =
    limitOnUnpriced(limits, step.option) ?? (await limitInTheWay(database, limits, step));
  return detail === undefined ? undefined : { reason: 'blocked_budget', detail };
}

/** Throws for a value of a variable that the routine does not have. */
function assertKnown(
  routine: Pick<ProvenRoutine, 'variables'>,
  variables: Readonly<Record<string, string>>,
): void {
  const unknown = Object.keys(variables).filter((name) => !Object.hasOwn(routine.variables, name));
  if (unknown.length === 0) return;
  const faults = unknown.map((name) => ({
    path: `variables.${name}`,
    message: 'the routine has no such variable',
  }));
  throw invalid(faults, 'invalid_variable');
}

/** Reads what the first step of a manual run would read, for a run that is never created. */
async function plannedRun(
  db: Db,
  routine: ProvenRoutine,
  variables: Readonly<Record<string, string>>,
): Promise<{ run: PreflightRun; budgets: Budgets }> {
  const keys = { projectId: sql`r.project_id`, routineId: sql`r.id` };
  const found = await row<{
    now: Date;
    tools: readonly OfferedToolJson[];
    previous: PreviousRunJson | null;
    previousData: PreviousData | null;
    budgets: Budgets;
  }>(
    db,
    sql`
      select now() as now, ${offeredToolsJson({ ...keys, startedAt: sql`now()` })} as tools,
        case when r.carry_result or position('previous.' in r.instructions) > 0 then ${previousRunJson(keys)} end
          as previous,
        case when ${asksForData(sql`r.instructions`)} then ${previousDataJson(keys)} end as "previousData",
        jsonb_build_object('routine', ${budgetColumns('r')}, 'project', ${budgetColumns('p')},
          'organization', ${budgetColumns('o')}) as budgets
      from routines r join projects p on p.id = r.project_id join organizations o on o.id = p.organization_id
      where r.id = ${routine.id} and r.project_id = ${routine.projectId}
    `,
  );
  if (found === undefined) throw new AppError('routine_not_found');
  const { maxSteps, timeoutSeconds, maxTotalTokens, maxOutputTokens } = routine.limits;
  const run: PreflightRun = {
    id: newId('run'),
    projectId: routine.projectId,
    routineName: routine.name,
    routineState: routine.state,
    trigger: 'manual',
    scheduledFor: null,
    runAt: null,
    retryOf: null,
    instructions: routine.instructions,
    variables: { ...routine.variables, ...variables },
    skills: routine.skills,
    timezone: routine.timezone,
    model: routine.model,
    maxSteps,
    timeoutSeconds,
    maxTotalTokens,
    maxOutputTokens,
    prompt: null,
    briefing: null,
    carryResult: routine.carryResult,
    gate: routine.gate,
    outcomeRule: routine.outcome,
    previous: found.previous === null ? undefined : previousRunOf(found.previous),
    previousData: found.previousData,
    resultForm:
      routine.resultSchema === null
        ? null
        : { schema: routine.resultSchema, key: routine.resultKey },
    modelSteps: 0,
    startedAt: found.now,
    tools: offeredTools(found.tools, ownTools(routine)),
  };
  return { run, budgets: found.budgets };
}

function inputOf(inputTokens: number) {
  return { inputTokens, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };
}

import { countInput } from '#core/clients/gateway/index.ts';
import { gateFault, readRoutine, type ProvenRoutine } from '#core/authoring/routines/index.ts';
import { type Gate, definitionForm } from '#core/authoring/definition/index.ts';
import { toldFactsJson, type ToldFacts } from '#core/authoring/facts/index.ts';
import { resolveSkills } from '#core/authoring/skills/index.ts';
import { costOf } from '#core/foundation/cost/index.ts';
import {
  leastOf,
  limitsOf,
  overBudget,
  tooLittleLeft,
  type ScopeLimits,
  budgetColumns,
  type Budgets,
} from '#core/usage/index.ts';
import { failure, type FailureReason } from '#core/execution/run-states/index.ts';
import { estimateRun, findQuoted, mostOfRun, type Amount, type RunEstimate } from '#core/execution/forecast/index.ts';
import { assertMayBeGiven } from '#core/execution/runs/index.ts';
import {
  openingMessages,
  PREAMBLE,
  type Opening,
  renderPrompt,
  previousRunJson,
  previousRunOf,
  type PreviousRunJson,
  asksForData,
  previousDataJson,
  type PreviousData,
} from '#core/execution/prompt/index.ts';
import { offeredTools, offeredToolsJson, type OfferedToolJson } from '#core/integrations/tools/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { type PreparedRun, definedRun } from './begin-step.ts';
import type { StepsCore } from './model-call.ts';
import { toolSet } from './plan-tool-calls.ts';
import { preflight, type Blocked } from './prepare.ts';
import { limitOnUnpriced, outputBound } from './reserve.ts';

/** The run that would begin now, up to the first call of its model. */
export interface Preview {
  readonly preamble: string;
  /** Undefined where the text cannot be rendered; `blocked` then has the reason. */
  readonly opening: Opening | undefined;
  readonly skills: readonly { readonly reference: string; readonly name: string }[];
  /** Facts that the run would be told, with version 0 where there are none; null for a routine that uses none. */
  readonly facts: { readonly version: number; readonly length: number } | null;
  readonly tools: PreparedRun['tools'];
  /** The gate, with the reason why it may not be asked now (undefined where it may); null for a routine without one. */
  readonly gate: { readonly asks: Gate; readonly fault: string | undefined } | null;
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
 * @throws {AppError} `routine_not_found`, `invalid_variable` for a variable that cannot be given
 */
export async function previewRun(
  deps: StepsCore,
  input: {
    projectId: string;
    organizationId: string;
    id: string;
    variables: Readonly<Record<string, string>>;
    valuesFenced: boolean;
  },
  signal: AbortSignal,
): Promise<Preview> {
  const { database } = deps;
  const routine = await readRoutine(database, input.projectId, input.id);
  const { run, budgets } = await plannedRun(database, routine, input);
  // Its gate is not asked, so what that would see is left out of the text.
  const ready = await preflight(deps, run, signal, () => Promise.resolve(null));
  const skills = await resolveSkills(database, deps.skills, run.projectId, run.skills, 'newest');
  const opening = 'reason' in ready ? textOf(run, skills) : ready;
  const option = await findQuoted(deps.models, routine);
  const spender = { ...input, routineId: routine.id, provider: run.model.provider, budgets };
  const limits = limitsOf(spender, deps.maxCostUsdPerOrganization);
  const isHeld = run.tools.length === 0 && option?.abilities.structuredOutputs !== false;
  const resultSchema = isHeld ? run.resultForm?.schema : undefined;
  const call = { instructions: PREAMBLE, tools: toolSet(run.tools), resultSchema };
  const inputTokens = opening === undefined ? undefined : countInput({ ...call, messages: openingMessages(opening) });
  const blocked =
    'reason' in ready
      ? ready
      : await overBudgets(deps, limits, {
          prices: ready.option.prices,
          inputTokens: inputTokens ?? 0,
          outputTokens: run.maxOutputTokens ?? outputBound(ready.option, inputTokens ?? 0),
        });
  return {
    preamble: PREAMBLE,
    opening,
    skills,
    facts: run.facts ? { version: run.toldFacts?.version ?? 0, length: run.toldFacts?.text.length ?? 0 } : null,
    tools: run.tools,
    gate: await gateOf(deps, routine),
    blocked: blocked && {
      reason: blocked.reason,
      message: failure(blocked.reason, blocked.detail).errorMessage ?? '',
    },
    estimate: {
      inputTokens,
      least: {
        tokens: inputTokens ?? null,
        costUsd: inputTokens === undefined ? null : costOf(inputOf(inputTokens), option?.prices ?? null),
      },
      most: mostOfRun(routine.limits, option),
      typical: await estimateRun(deps, routine),
    },
  };
}

/** Renders the text of a run that is blocked, unless that is because its definition cannot be read. */
function textOf(run: PreparedRun, skills: Awaited<ReturnType<typeof resolveSkills>>): Opening | undefined {
  return run.blocked === null ? renderPrompt({ ...run, skills, runId: run.id }) : undefined;
}

async function gateOf(
  deps: Pick<StepsCore, 'database' | 'outbound'>,
  { id: routineId, projectId, gate }: ProvenRoutine,
): Promise<Preview['gate']> {
  if (gate === null) return null;
  const fault = await gateFault(deps.database, deps, { projectId, routineId }, gate);
  return { asks: gate, fault: fault?.message };
}

/** Checks the budgets, as a run does when it reserves its first step. */
async function overBudgets(
  { database }: Pick<StepsCore, 'database'>,
  limits: readonly ScopeLimits[],
  step: Parameters<typeof leastOf>[0],
): Promise<Blocked | undefined> {
  const unpriced = limitOnUnpriced(limits, step);
  if (unpriced !== undefined) return { reason: 'blocked_budget', detail: unpriced };
  const passed = (await overBudget(database, [limits], leastOf(step))).get(0);
  return passed && { reason: 'blocked_budget', detail: tooLittleLeft(passed) };
}

function inputOf(inputTokens: number) {
  return { inputTokens, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };
}

/**
 * Reads what the first step of a manual run would read, for a run that is never created.
 * @throws {AppError} `routine_not_found`, `invalid_variable` for a variable that cannot be given
 */
async function plannedRun(
  db: Db,
  routine: ProvenRoutine,
  { variables, valuesFenced }: Parameters<typeof previewRun>[1],
): Promise<{ run: PreparedRun; budgets: Budgets }> {
  const names = Object.keys(variables);
  const other = names.filter((name) => variables[name] !== routine.variables[name]);
  assertMayBeGiven({
    unknown: names.filter((name) => !Object.hasOwn(routine.variables, name)),
    closed: other.filter((name) => routine.overridable?.includes(name) === false),
  });
  const keys = { projectId: sql`r.project_id`, routineId: sql`r.id` };
  const newestFacts = toldFactsJson({
    projectId: keys.projectId,
    trigger: sql`'manual'`,
    activeFacts: sql`null::integer`,
  });
  const found = await db.row<{
    now: Date;
    tools: readonly OfferedToolJson[];
    previous: PreviousRunJson | null;
    previousData: PreviousData | null;
    toldFacts: ToldFacts | null;
    budgets: Budgets;
  }>`
    select now() as now, ${offeredToolsJson({ ...keys, startedAt: sql`now()` })} as tools,
      case when ${routine.carryResult || routine.instructions.includes('previous.')}::boolean
      then ${previousRunJson(keys)} end
        as previous,
      case when ${asksForData(sql`${routine.instructions}::text`)} then ${previousDataJson(keys)} end as "previousData",
      case when ${routine.facts}::boolean then ${newestFacts} end as "toldFacts",
      jsonb_build_object('routine', ${budgetColumns('r')}, 'project', ${budgetColumns('p')},
        'organization', ${budgetColumns('o')}) as budgets
    from routines r join projects p on p.id = r.project_id join organizations o on o.id = p.organization_id
    where r.id = ${routine.id} and r.project_id = ${routine.projectId}
  `;
  if (found === undefined) throw new AppError('routine_not_found');
  const { maxSteps, timeoutSeconds, maxTotalTokens } = routine.limits;
  const run: PreparedRun = {
    id: newId('run'),
    projectId: routine.projectId,
    routineName: routine.name,
    routineState: routine.state,
    trigger: 'manual',
    scheduledFor: null,
    runAt: null,
    retryOf: null,
    ...definedRun({ value: definitionForm.pick(routine), blocked: routine.blocked }, variables, valuesFenced),
    activeSkills: null,
    timezone: routine.timezone,
    maxSteps,
    timeoutSeconds,
    maxTotalTokens,
    prompt: null,
    briefing: null,
    previous: found.previous === null ? undefined : previousRunOf(found.previous),
    previousData: found.previousData,
    toldFacts: found.toldFacts,
    modelSteps: 0,
    startedAt: found.now,
    tools: offeredTools(found.tools, routine),
  };
  return { run, budgets: found.budgets };
}

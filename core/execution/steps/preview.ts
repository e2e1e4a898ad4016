import { actionsInWords, asksForActions, toldActionsJson, type ToldAction } from '#core/execution/actions/index.ts';
import { toldQuestionsJson } from '#core/execution/questions/index.ts';
import { countInput } from '#core/clients/gateway/index.ts';
import { gateFault, readRoutine, type ProvenRoutine } from '#core/authoring/routines/index.ts';
import { type Gate, definitionForm } from '#core/authoring/definition/index.ts';
import { toldFactsJson, type ToldFacts } from '#core/authoring/facts/index.ts';
import { resolveSkills } from '#core/authoring/skills/index.ts';
import { costOf, NO_USAGE } from '#core/foundation/cost/index.ts';
import { leastOf, limitsOf, overBudget, tooLittleLeft, budgetColumns, type Budgets } from '#core/usage/index.ts';
import { failure, type RunEnding, type RunReason } from '#core/execution/run-states/index.ts';
import { estimateRun, findQuoted, mostOfRun, type Amount, type RunEstimate } from '#core/execution/forecast/index.ts';
import { starts } from '#core/execution/runs/index.ts';
import {
  openingMessages,
  PREAMBLE,
  type Opening,
  renderPrompt,
  type PreviousData,
  type ToldQuestion,
} from '#core/execution/prompt/index.ts';
import { offeredTools, offeredToolsJson, type OfferedToolJson } from '#core/integrations/tools/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import {
  asksForData,
  definedFields,
  previousDataJson,
  previousRunJson,
  previousRunOf,
  type PreviousRunJson,
  type StepRun,
  tellsQuestions,
} from './begin-step.ts';
import type { StepsCore } from './model-call.ts';
import { findModel, prepareOpening, toolSet } from './prepare.ts';
import { limitOnUnpriced, outputBound } from './reserve.ts';
import { Stop } from './stop.ts';

/** The run that would begin now, up to the first call of its model. */
export interface Preview {
  readonly preamble: string;
  /** The rendered text; undefined if it cannot be rendered: `blocked` then has the reason. */
  readonly opening: Opening | undefined;
  readonly skills: readonly { readonly reference: string; readonly name: string }[];
  /** Facts for the run, with version 0 if there are none; null for a routine that uses none. */
  readonly facts: { readonly version: number; readonly length: number } | null;
  readonly tools: StepRun['tools'];
  /** The gate, with the reason why it may not be asked now (undefined if it may); null for a routine without a gate. */
  readonly gate: { readonly asks: Gate; readonly fault: string | undefined } | null;
  /** The reason why the run would end before its model is called; undefined if the model would be called. */
  readonly blocked: { readonly reason: RunReason | null; readonly message: string } | undefined;
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
 * Shows the text, the tools and the cost of a run of a routine, and whether it could begin. It creates no run, calls no
 * model and writes nothing, except that it renews a sign-in that is due, as any run does.
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
  const run = await plannedRun(database, routine, input);
  const skills = await resolveSkills(database, deps.skills, run.projectId, run.skills, 'newest');
  const option = await findQuoted(deps.models, routine);
  const isHeld = run.tools.length === 0 && option?.abilities.structuredOutputs !== false;
  const resultSchema = isHeld ? run.resultForm?.schema : undefined;
  const call = { instructions: PREAMBLE, tools: toolSet(run.tools), resultSchema };
  let opening: Opening | undefined;
  let inputTokens: number | undefined;
  let blocked: RunEnding | undefined;
  try {
    const found = await findModel(deps, run);
    // A preview does not ask the gate, so it leaves the gate's answer out of the text.
    opening = await prepareOpening(deps, run, signal, () => Promise.resolve(null));
    inputTokens = countInput({ ...call, messages: openingMessages(opening) });
    blocked = await overBudgets(deps, run, {
      prices: found.prices,
      inputTokens,
      outputTokens: run.maxOutputTokens ?? outputBound(found, inputTokens),
    });
  } catch (error) {
    if (!(error instanceof Stop) || error.consequence.kind !== 'ends') throw error;
    blocked = error.consequence.ending;
    // Show the opening of a run that would be stopped too. Only an unreadable definition (`run.blocked`) has none.
    opening = run.blocked === null ? renderPrompt(run, skills) : undefined;
    if (opening !== undefined) inputTokens = countInput({ ...call, messages: openingMessages(opening) });
  }
  return {
    preamble: PREAMBLE,
    opening,
    skills,
    facts: run.facts ? { version: run.toldFacts?.version ?? 0, length: run.toldFacts?.text.length ?? 0 } : null,
    tools: run.tools,
    gate: await gateOf(deps, routine),
    blocked: blocked && { reason: blocked.reason, message: blocked.errorMessage ?? '' },
    estimate: {
      inputTokens,
      least: {
        tokens: inputTokens ?? null,
        costUsd: inputTokens === undefined ? null : costOf({ ...NO_USAGE, inputTokens }, option?.prices ?? null),
      },
      most: mostOfRun(routine.limits, option),
      typical: await estimateRun(deps, routine),
    },
  };
}

async function gateOf(deps: StepsCore, { id: routineId, projectId, gate }: ProvenRoutine): Promise<Preview['gate']> {
  if (gate === null) return null;
  const fault = await gateFault(deps.database, deps, { projectId, routineId }, gate);
  return { asks: gate, fault: fault?.message };
}

async function overBudgets(
  deps: StepsCore,
  run: StepRun,
  step: Parameters<typeof leastOf>[0],
): Promise<RunEnding | undefined> {
  const limits = limitsOf({ ...run, provider: run.model.provider }, deps.maxCostUsdPerOrganization);
  const unpriced = limitOnUnpriced(limits, step);
  if (unpriced !== undefined) return failure('blocked_budget', unpriced);
  const passed = (await overBudget(deps.database, [limits], leastOf(step))).get(0);
  return passed && failure('blocked_budget', tooLittleLeft(passed));
}

/**
 * Reads the input of the first step of a manual run, for a run that is never created.
 * @throws {AppError} `routine_not_found`, `invalid_variable` for a variable that cannot be given
 */
async function plannedRun(
  db: Db,
  routine: ProvenRoutine,
  { organizationId, variables, valuesFenced }: Parameters<typeof previewRun>[1],
): Promise<StepRun> {
  const names = Object.keys(variables);
  const other = names.filter((name) => variables[name] !== routine.variables[name]);
  starts.assertMayBeGiven({
    unknown: names.filter((name) => !Object.hasOwn(routine.variables, name)),
    closed: other.filter((name) => routine.overridable?.includes(name) === false),
  });
  const keys = { projectId: sql`r.project_id`, routineId: sql`r.id` };
  const newestFacts = toldFactsJson({ ...keys, trigger: sql`'manual'`, activeFacts: sql`null::integer` });
  const found = await db.row<{
    now: Date;
    tools: readonly OfferedToolJson[];
    previous: PreviousRunJson | null;
    previousData: PreviousData | null;
    toldFacts: ToldFacts | null;
    toldActions: readonly ToldAction[] | null;
    toldQuestions: readonly ToldQuestion[] | null;
    budgets: Budgets;
  }>`
    select now() as now, ${offeredToolsJson({ ...keys, startedAt: sql`now()` })} as tools,
      case when ${routine.carryResult || routine.instructions.includes('previous.')}::boolean
      then ${previousRunJson(keys)} end
        as previous,
      case when ${asksForData(sql`${routine.instructions}::text`)} then ${previousDataJson(keys)} end as "previousData",
      case when ${routine.facts}::boolean then ${newestFacts} end as "toldFacts",
      case when ${asksForActions(sql`${routine.instructions}::text`)} then ${toldActionsJson(keys)} end as "toldActions",
      case when ${tellsQuestions(sql`r.definition`)} then ${toldQuestionsJson(keys)} end as "toldQuestions",
      jsonb_build_object('routine', ${budgetColumns('r')}, 'project', ${budgetColumns('p')},
        'organization', ${budgetColumns('o')}) as budgets
    from routines r join projects p on p.id = r.project_id join organizations o on o.id = p.organization_id
    where r.id = ${routine.id} and r.project_id = ${routine.projectId}
  `;
  if (found === undefined) throw new AppError('routine_not_found');
  const { maxSteps, timeoutSeconds, maxTotalTokens } = routine.limits;
  return {
    ...definedFields({ value: definitionForm.pick(routine), blocked: routine.blocked }, variables, valuesFenced),
    ...atItsFirstStep,
    runId: newId('run'),
    organizationId,
    projectId: routine.projectId,
    routineId: routine.id,
    revision: routine.revision,
    routineName: routine.name,
    routineState: routine.state,
    trigger: 'manual',
    timezone: routine.timezone,
    maxSteps,
    timeoutSeconds,
    maxTotalTokens,
    budgets: found.budgets,
    previous: found.previous === null ? undefined : previousRunOf(found.previous),
    previousData: found.previousData,
    toldFacts: found.toldFacts,
    toldActions: found.toldActions && actionsInWords(found.toldActions),
    questions: found.toldQuestions ?? [],
    startedAt: found.now,
    remainingMs: timeoutSeconds * 1_000,
    tools: offeredTools(found.tools, routine),
  };
}

/**
 * The fields of a run that was just made. The run may not wait, so a preview shows every wait as the end of the run.
 */
const atItsFirstStep = {
  index: 0,
  attempt: 1,
  scheduledFor: null,
  runAt: null,
  retryOf: null,
  activeSkills: null,
  prompt: null,
  briefing: null,
  gateVerdict: null,
  followUp: null,
  modelSteps: 0,
  stepAgeMs: 0,
  totalTokens: 0,
  costUsd: null,
  patienceMs: 0,
  inLine: false,
  cancelRequested: false,
  providerFailures: 0,
  transcriptSteps: [],
  transcript: [],
  hasWebhook: false,
} as const;

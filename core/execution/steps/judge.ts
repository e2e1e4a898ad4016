import type { ModelMessage } from 'ai';
import { Big } from 'big.js';
import { finishClass } from '#core/clients/gateway/index.ts';
import {
  REMINDER,
  asksForCalls,
  asksForRepair,
  countCalls,
  decideChecks,
  findPatterns,
  lacksConnection,
  readData,
  repairRequest,
  textBeforeReminder,
  wasReminded,
  type Evidence,
  type Finish,
} from '#core/authoring/outcomes/index.ts';
import { ABNORMAL_FROM_TOKENS } from '#core/authoring/definition/index.ts';
import {
  failure,
  success,
  type FailureReason,
  type RunEnding,
  type StepWarning,
} from '#core/execution/run-states/index.ts';
import { medianOfVersion } from '#core/execution/forecast/index.ts';
import { FINISH } from '#core/integrations/tools/index.ts';
import { costOf, totalTokens } from '#core/foundation/cost/index.ts';
import { RAISED_BY } from '#core/usage/index.ts';
import { persistently, type Db } from '#lib/database/index.ts';
import { cut } from '#lib/text.ts';
import type { StepRun } from './begin-step.ts';
import type { ModelResponse } from './model-call.ts';
import { finishIn, planToolCalls, type CallPlan } from './plan-tool-calls.ts';
import type { PreparedStep } from './prepare.ts';
import { runLimitInWords, type GrantedOutput } from './reserve.ts';
import { CALL_REQUEST, wasAskedToCall, writtenCall } from './written-call.ts';

/** Consequence of a response: the end of the run, or a next step. */
export interface JudgedResponse {
  /** The end of the run; undefined when the run continues. */
  readonly ending: RunEnding | undefined;
  /** Results of searching the text for patterns, by the index of the check. */
  readonly patterns: Evidence['patterns'];
  /** The messages of the step: the model's own, refusals of its calls, and the next request of the service. */
  readonly messages: readonly ModelMessage[];
  /** The calls that follow; none are made if the run ends. */
  readonly calls: Omit<CallPlan, 'messages'>;
  readonly warnings: readonly StepWarning[];
  /** Cost in US dollars as a decimal string; null if the model has no price. */
  readonly costUsd: string | null;
}

/** Decides the consequence of a response and the recorded steps. It writes nothing. */
export async function judgeResponse(
  { database }: { readonly database: Db },
  run: StepRun,
  { option, countInput, call: { signal } }: PreparedStep,
  { granted, response }: { readonly granted: GrantedOutput; readonly response: ModelResponse },
): Promise<JudgedResponse> {
  const costUsd = costOf(response.usage, option.prices);
  const isFinal = response.toolCalls.every(({ name }) => name === FINISH);
  const written = isFinal ? writtenCall(response.text, run.tools) : undefined;
  const sentTokens = response.usage.estimated ? 0 : countInput();
  const warnings = responseWarnings(response, { sentTokens, isCallWritten: written !== undefined });
  const { messages, ...calls } = planToolCalls(response, run);
  const formed = await endingByForm(run, response, endingOf(run, { response, written, cutBy: granted.cutBy }));
  // Repeat this while Postgres is away: if the step failed here, the response would have to be paid for again.
  const ending =
    formed.ending ?? (await persistently(() => endingByCost(database, run, { response, costUsd }), signal));
  const judged = { warnings, costUsd, calls };
  if (ending === undefined) {
    const request = written === undefined ? REMINDER : CALL_REQUEST;
    const asked = formed.messages ?? (response.toolCalls.length > 0 ? [] : [request]);
    return { ...judged, ending, patterns: new Map(), messages: [...messages, ...asked] };
  }
  const patterns = ending.state === 'succeeded' ? await findPatterns(run, ending.result ?? '') : new Map();
  return { ...judged, ending, patterns, messages };
}

interface Answered {
  readonly response: ModelResponse;
  /** The tool whose call the response contains as text; undefined if there is none. */
  readonly written: string | undefined;
  /** The limit that lowered the output of this step; undefined if none did. */
  readonly cutBy: FailureReason | undefined;
}

/**
 * Returns the ending that follows from this response; undefined when the run continues with tools, or with a reminder.
 */
function endingOf(run: StepRun, answered: Answered): RunEnding | undefined {
  const { response, written, cutBy } = answered;
  const result = response.text === '' ? null : response.text;
  const end = finishClass(response.finishReason);
  if (end === 'withheld') return { ...failure('content_filtered'), result };
  const required = run.outcomeRule === 'required';
  // The last call was cut with the output, so its arguments are incomplete.
  if (end === 'cut' && response.toolCalls.at(-1)?.invalid === true) {
    return { ...failure(cutBy ?? 'output_truncated'), result };
  }
  const finish = finishIn(response, run);
  if (finish.kind === 'stated') return statedEnding(finish, run, answered);
  const limit = limitReached(run, response);
  if (response.toolCalls.length === 0) {
    if (end === 'cut') return { ...failure(cutBy ?? 'output_truncated'), result };
    if (written !== undefined) {
      const mayGoOn = !wasAskedToCall(run.transcript) && limit === undefined;
      return mayGoOn ? undefined : endingByWrittenCall(written, result);
    }
    if (required && wasReminded(run.transcript)) {
      return { ...failure('outcome_missing'), result: result ?? textBeforeReminder(run.transcript) };
    }
    if (result === null) return failure('model_empty');
    if (!required) return success(result);
  }
  if (limit === undefined) return undefined;
  const words = limit === 'max_total_tokens' ? runLimitInWords(run) : undefined;
  return { ...failure(limit, words), result };
}

function endingByWrittenCall(tool: string, result: string | null): RunEnding {
  const message = `The model wrote its call of ${tool} as text, so the call was not made. Its server may lack the parser for the calls of this model.`;
  return { ...failure('model_wrote_call', message), result };
}

function limitReached(run: StepRun, response: ModelResponse): FailureReason | undefined {
  // Steps come one after the other, so the total of the run has not changed since this step began.
  const tokens = run.totalTokens + totalTokens(response.usage);
  if (run.maxTotalTokens !== null && tokens >= run.maxTotalTokens) return 'max_total_tokens';
  return run.modelSteps + 1 >= run.maxSteps ? 'max_steps' : undefined;
}

/** Length at which a summary is cut. */
const SUMMARY_LENGTH = 500;

/**
 * Takes the result from the call of `finish`, else from the text that came with it, the text before the reminder, or
 * the summary.
 */
function statedEnding(
  { outcome, summary, urgency, result: called, next }: Extract<Finish, { kind: 'stated' }>,
  { transcript }: StepRun,
  { response: { text }, written }: Answered,
): RunEnding {
  if (written !== undefined && called === null && outcome !== 'could_not') return endingByWrittenCall(written, text);
  const result = called ?? (text.trim() === '' ? (textBeforeReminder(transcript) ?? summary) : text);
  if (outcome === undefined) return success(result);
  const outcomeSummary = cut(summary, SUMMARY_LENGTH);
  if (outcome === 'could_not') return { ...failure('could_not'), result, outcomeSummary };
  return { ...success(result), outcome, outcomeSummary, urgency, next };
}

/** The end of a run after the check of its result against the form that the routine asks for. */
interface FormedEnding {
  /** The end of the run; undefined when the run continues. */
  readonly ending: RunEnding | undefined;
  /** Messages to the model when it must send its result again. */
  readonly messages?: readonly ModelMessage[];
}

/**
 * Reads the data of a run that would succeed. The model is asked once more for a result that has another form, if a
 * step is left; otherwise the run fails. A run with nothing to report may leave its data out.
 */
async function endingByForm(
  run: StepRun,
  response: ModelResponse,
  ending: RunEnding | undefined,
): Promise<FormedEnding> {
  if (ending?.state !== 'succeeded' || run.resultForm === null) return { ending };
  const read = await readData(run.projectId, ending.result ?? '', run.resultForm);
  if (read.ok) {
    const data = { value: read.data, by: run.resultForm.key };
    return { ending: { ...ending, data } };
  }
  if (ending.outcome === 'nothing_to_report') return { ending };
  const { issue } = read;
  if (!run.transcript.some(asksForRepair) && limitReached(run, response) === undefined) {
    return { ending: undefined, messages: repairRequest(issue, response.toolCalls) };
  }
  const message = `The result is not what was asked for: ${issue}.`;
  const { result, outcomeSummary } = ending;
  return { ending: { ...failure('result_invalid', message), result, outcomeSummary } };
}

/**
 * Judges by tool calls and by the routine's checks whether a run may succeed, and returns its ending: a failed check
 * makes the run fail. Reads the calls of earlier steps, which no longer change.
 */
export async function endingByChecks(
  db: Db,
  run: StepRun,
  ending: RunEnding,
  patterns: Evidence['patterns'],
): Promise<RunEnding> {
  if (ending.state !== 'succeeded') return ending;
  const reached = await endingByTools(db, run, ending);
  if (run.checks.length === 0) return reached;
  const calls = asksForCalls(run.checks) ? await countCalls(db, run.runId) : [];
  const { outcome = 'done', result: text, warnings } = reached;
  const checks = decideChecks(run.checks, { outcome, result: text ?? '', patterns, calls });
  const failed = checks.findIndex(({ passed }) => !passed);
  const check = checks[failed];
  if (check === undefined) return { ...reached, checks };
  const message = `Check ${failed + 1} of ${checks.length}, ${check.type}, failed: ${check.detail}`;
  const { result, outcomeSummary } = ending;
  return { ...failure('check_failed', message), result, outcomeSummary, checks, warnings };
}

async function endingByTools(db: Db, run: StepRun, ending: RunEnding): Promise<RunEnding> {
  if (!run.transcript.some(({ role }) => role === 'tool') || !(await lacksConnection(db, run.runId))) return ending;
  return { ...ending, outcome: 'partial', warnings: ['tools_failed'] };
}

/** With fewer tokens, an estimate is too rough to prove that a prompt was cut. */
const WORTH_COMPARING = 1_000;

function responseWarnings(
  { usage, call }: ModelResponse,
  { sentTokens, isCallWritten }: { readonly sentTokens: number; readonly isCallWritten: boolean },
): StepWarning[] {
  // Do not compare on an account: the provider's token counts include the tokens of its own protocol.
  const isCut = call === undefined && sentTokens > WORTH_COMPARING && usage.inputTokens < sentTokens / 2;
  return [
    ...(isCut ? (['prompt_cut'] as const) : []),
    ...(usage.isDoubted === true ? (['usage_not_believed'] as const) : []),
    ...(isCallWritten ? (['call_as_text'] as const) : []),
  ];
}

/** The fewest earlier runs that define normal usage. With fewer, a new version would end its own first long run. */
const LEAST_RUNS = 5;

/**
 * Returns the ending of a run that would continue and has cost far more than its version's other runs: in dollars if
 * all these runs have a price, else in tokens. Most runs stay below the floor and cost no statement.
 */
async function endingByCost(
  db: Db,
  run: StepRun,
  { response, costUsd }: { readonly response: ModelResponse; readonly costUsd: string | null },
): Promise<RunEnding | undefined> {
  const { abnormalFactor: factor } = run;
  // Do not end the run: a response without tool calls has the answer, and only its outcome is still requested.
  if (response.toolCalls.length === 0) return undefined;
  // Steps come one after the other, so the total of the run has not changed since this step began.
  const tokens = run.totalTokens + totalTokens(response.usage);
  if (factor === null || tokens <= ABNORMAL_FROM_TOKENS) return undefined;
  const median = await medianOfVersion(db, run);
  if (median.runs < LEAST_RUNS) return undefined;
  const cost = costUsd === null ? null : new Big(run.costUsd ?? 0).plus(costUsd);
  const isPriced = cost !== null && median.costUsd !== null;
  const [used, normal, unit] = isPriced
    ? [cost, new Big(median.costUsd), 'US dollars']
    : [new Big(tokens), new Big(median.tokens), 'tokens'];
  if (used.lte(normal.times(factor))) return undefined;
  const message = `The run has used ${used.toFixed()} ${unit}, more than limits.abnormalFactor (${factor}) times ${normal.toFixed()}, the median of the last ${median.runs} runs of its version. The factor can be raised by ${RAISED_BY.routine}.`;
  const result = response.text === '' ? null : response.text;
  return { ...failure('abnormal_cost', message), result };
}

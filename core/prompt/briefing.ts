import type { Trigger } from '#core/engine/index.ts';
import type { ResultForm, OutcomeRule } from '#core/routines/index.ts';
import { FINISH } from '#core/tools/index.ts';
import { inWords } from './local-time.ts';

export interface BriefingInput {
  readonly startedAt: Date;
  readonly timezone: string;
  readonly trigger: Trigger;
  readonly scheduledFor: Date | null;
  readonly runAt: Date | null;
  readonly retryOf: string | null;
  /** Reason, in words, why the gate let the run go on. */
  readonly gateWords?: string;
  readonly tools: readonly { readonly name: string }[];
  readonly maxSteps: number;
  readonly timeoutSeconds: number;
  readonly maxTotalTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly outcomeRule: OutcomeRule;
  readonly resultForm: ResultForm | null;
  /** Lines that say other fields of the definition. */
  readonly told?: readonly string[];
}

/**
 * Renders the text that differs in every run: its time, what started it, its tools and limits, and its previous result.
 * @param previous the words about the previous result
 */
export function renderBriefing(run: BriefingInput, previous: string): string {
  const { startedAt, timezone, scheduledFor } = run;
  return [
    'About this run:',
    `- Date and time: ${inWords(startedAt, timezone)}`,
    ...(scheduledFor === null ? [] : [`- Scheduled for: ${inWords(scheduledFor, timezone)}`]),
    `- Started by: ${startedBy(run)}`,
    ...(run.gateWords === undefined ? [] : [`- Gate: ${run.gateWords}`]),
    `- Tools: ${toolNames(run.tools)}`,
    `- Limits: ${limitsInWords(run)}`,
    ...(run.told ?? []).map((line) => `- ${line}`),
    ...howToEnd(run),
    '',
    previous,
  ].join('\n');
}

function howToEnd({ tools, outcomeRule, resultForm }: BriefingInput): string[] {
  if (!tools.some(({ name }) => name === FINISH)) return [];
  const result = resultForm === null ? WITH_TEXT : WITH_RESULT;
  return [`- How to end: ${result}${outcomeRule === 'required' ? OR_FAILED : ''}`];
}

const WITH_TEXT = `write the result as a message and call ${FINISH} in that same message, once and with no other call, to state the outcome`;
const WITH_RESULT = `call ${FINISH} once, by itself, with the result in the form that is asked for`;
const OR_FAILED = '; a run that ends without it counts as failed';

function startedBy({ trigger, retryOf }: BriefingInput): string {
  if (trigger === 'schedule') return 'its schedule';
  if (trigger === 'backfill')
    return 'a person or a program, to make up for the time that it is scheduled for';
  return retryOf === null ? 'a person or a program, by hand' : 'hand, to repeat an earlier run';
}

/** Tools that are named; a request carries all of them in any case. */
const SHOWN_TOOLS = 100;

function toolNames(tools: BriefingInput['tools']): string {
  if (tools.length === 0) return 'none; work with what is given here';
  const shown = tools.slice(0, SHOWN_TOOLS).map(({ name }) => name);
  const rest = tools.length - shown.length;
  return [...shown, ...(rest === 0 ? [] : [`and ${rest} more`])].join(', ');
}

function limitsInWords(run: BriefingInput): string {
  const { maxSteps, timeoutSeconds, maxTotalTokens, maxOutputTokens } = run;
  return [
    `${maxSteps} model steps, each a message of yours or a round of tool calls`,
    `${timeoutSeconds} seconds`,
    ...(maxTotalTokens === null ? [] : [`${maxTotalTokens} tokens of input and output`]),
    ...(maxOutputTokens === null ? [] : [`${maxOutputTokens} tokens of output a step`]),
  ].join('; ');
}

import { LRUCache } from 'lru-cache';
import type { Trigger } from '#core/foundation/engine/index.ts';
import type { ToldFacts } from '#core/authoring/facts/index.ts';
import type { ResultForm, OutcomeRule } from '#core/authoring/definition/index.ts';
import type { Changes } from '#core/authoring/outcomes/index.ts';
import { FINISH } from '#core/integrations/tools/index.ts';
import type { GateVerdict } from '#core/execution/gate/index.ts';
import type { ToldQuestion } from './answers.ts';
import { carried, fence } from './fence.ts';

/** The fields of a run for rendering its prompt and its briefing. */
export interface PromptRun {
  readonly runId: string;
  readonly routineName: string;
  readonly instructions: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Names of the given variables whose values are data and not instructions. */
  readonly fencedVariables: readonly string[];
  readonly startedAt: Date;
  readonly timezone: string;
  readonly trigger: Trigger;
  readonly scheduledFor: Date | null;
  readonly runAt: Date | null;
  /** The run that this run repeats. */
  readonly retryOf: string | null;
  /** Verdict of the gate; null or absent for a run that asked no gate. */
  readonly gateVerdict?: GateVerdict | null;
  readonly tools: readonly { readonly name: string }[];
  readonly maxSteps: number;
  readonly timeoutSeconds: number;
  readonly maxTotalTokens: number | null;
  readonly maxOutputTokens: number | null;
  readonly outcomeRule: OutcomeRule;
  /** Form that the result must have; null if any text will do. */
  readonly resultForm: ResultForm | null;
  readonly carryResult: boolean;
  /** The previous run; undefined without a previous result, or when the run does not use it. */
  readonly previous: PreviousRun | undefined;
  /** Data of the latest run with data; null if there is none, or when the instructions do not ask for the data. */
  readonly previousData: PreviousData | null;
  /** True when the routine uses the facts of its project; `toldFacts` is null without facts. */
  readonly facts?: boolean;
  readonly toldFacts?: ToldFacts | null;
  /** Results of held calls; null or absent if there are none, or if the instructions do not ask for them. */
  readonly toldActions?: string | null;
  /** Questions of earlier runs; empty for a routine that may not ask. */
  readonly questions?: readonly ToldQuestion[];
  /** Lines about further fields of the definition. */
  readonly told?: readonly string[];
}

/** The latest successful run of a routine. Backfills, which make up for the past, and follow-ups do not count. */
export interface PreviousRun {
  readonly finishedAt: Date;
  /** Result of the run; null once deleted. A run cannot succeed without a result. */
  readonly result: string | null;
}

/** Data of the routine's latest run with data; backfills and follow-ups do not count. */
export interface PreviousData {
  readonly data: unknown;
  readonly changes: Pick<Changes, 'counts' | 'added' | 'removed' | 'changed' | 'truncated'>;
}

/** A question about a result, with the earlier questions and answers. */
export interface FollowUp {
  readonly message: string;
  /** True when the caller may not write routines: the question is then data and not an instruction. */
  readonly fenced: boolean;
  /** The result that the question is about; null once erased. The time of the result is then null too. */
  readonly result: string | null;
  readonly finishedAt: string | null;
  readonly thread: readonly { readonly message: string | null; readonly answer: string | null }[];
}

/**
 * Renders the text that differs in every run: the run's time, cause, tools and limits, and the previous result.
 * @param previous the words about the previous result
 */
export function renderBriefing(run: PromptRun, previous: string): string {
  const { startedAt, timezone, scheduledFor, gateVerdict } = run;
  return [
    'About this run:',
    `- Date and time: ${inWords(startedAt, timezone)}`,
    ...(scheduledFor === null ? [] : [`- Scheduled for: ${inWords(scheduledFor, timezone)}`]),
    `- Started by: ${startedBy(run)}`,
    ...(gateVerdict == null ? [] : [`- Gate: ${wordsOnGate(gateVerdict)}`]),
    ...(run.trigger === 'rehearsal' ? [REHEARSAL] : []),
    `- Tools: ${toolNames(run.tools)}`,
    `- Limits: ${limitsInWords(run)}`,
    ...(run.told ?? []).map((line) => `- ${line}`),
    ...howToEnd(run),
    '',
    previous,
  ].join('\n');
}

const REHEARSAL =
  '- Rehearsal: only tools that read are called. Every other call is checked and recorded, but not made; a stand-in marked as rehearsed answers it. Work as always, take nothing from a stand-in for a fact, and say in the result which calls would have been made';

/** Renders the briefing of a follow-up. The prompt of a follow-up is the prompt of the run that it asks about. */
export function renderFollowUp(run: PromptRun, { message, fenced, result, finishedAt, thread }: FollowUp): string {
  const about =
    result === null
      ? 'The result that the question is about cannot be read: its text is no longer kept. Say so.'
      : fence(`The result of ${finishedAt ?? 'an earlier run'}, which the question is about,`, carried(result));
  const before = thread.map((each) =>
    fence('An earlier question about it, with the answer,', `${each.message ?? ''}\n\n${each.answer ?? ''}`),
  );
  const question = fenced
    ? fence('The question to answer, from a program that may not change the instructions,', message)
    : `The question: ${message}`;
  return renderBriefing({ ...run, told: [] }, [AS_ANSWER, about, ...before, question].join('\n\n'));
}

const AS_ANSWER =
  'This run does not do the work of the instructions again: a reader asks about the result of an earlier run. Answer the question in plain text, as your last message. Forms of the result and ways to end that the instructions ask for do not apply. Use tools only where the answer needs them.';

function howToEnd({ tools, outcomeRule, resultForm }: PromptRun): string[] {
  if (!tools.some(({ name }) => name === FINISH)) return [];
  const result = resultForm === null ? WITH_TEXT : WITH_RESULT;
  return [`- How to end: ${result}${outcomeRule === 'required' ? OR_FAILED : ''}`];
}

const WITH_TEXT = `write the result as a message and call ${FINISH} in that same message, once and with no other call, to state the outcome`;
const WITH_RESULT = `call ${FINISH} once, by itself, with the result in the form that is asked for`;
const OR_FAILED = '; a run that ends without it counts as failed';

function startedBy({ trigger, retryOf }: PromptRun): string {
  if (trigger === 'schedule') return 'its schedule';
  if (trigger === 'follow_up') return 'a reader of a result, with a question about it';
  if (trigger === 'rehearsal') return 'a person or a program, as a rehearsal';
  if (trigger === 'backfill') return 'a person or a program, to make up for the time that it is scheduled for';
  return retryOf === null ? 'a person or a program, by hand' : 'hand, to repeat an earlier run';
}

/** Number of tools that the briefing names; a request always contains all of them. */
const SHOWN_TOOLS = 100;

function toolNames(tools: PromptRun['tools']): string {
  if (tools.length === 0) return 'none; work with what is given here';
  const shown = tools.slice(0, SHOWN_TOOLS).map(({ name }) => name);
  const rest = tools.length - shown.length;
  return [...shown, ...(rest === 0 ? [] : [`and ${rest} more`])].join(', ');
}

function limitsInWords(run: PromptRun): string {
  const { maxSteps, timeoutSeconds, maxTotalTokens, maxOutputTokens } = run;
  return [
    `${maxSteps} model steps, each a message of yours or a round of tool calls`,
    `${timeoutSeconds} seconds`,
    ...(maxTotalTokens === null ? [] : [`${maxTotalTokens} tokens of input and output`]),
    ...(maxOutputTokens === null ? [] : [`${maxOutputTokens} tokens of output a step`]),
  ].join('; ');
}

/** Explains in the briefing why the gate woke the model. */
function wordsOnGate({ reason, error, changed }: GateVerdict): string {
  switch (reason) {
    case 'first':
      return 'it was asked for the first time since this routine was changed, so there is nothing to compare with';
    case 'changed':
      return 'what it watches has changed since the last run that succeeded';
    case 'not_empty':
      return 'what it watches is not empty';
    case 'quiet_too_long':
      return `nothing woke this routine for long, so it runs in any case; ${sinceLast(changed)}`;
    case 'manual':
      return `it was asked for its value only, as this run was started by hand; ${sinceLast(changed)}`;
    default:
      return `it could not be asked, so whether anything has changed is not known; say so in the result. ${error ?? ''}`;
  }
}

function sinceLast(changed: boolean | null): string {
  if (changed === null) return 'there is nothing to compare with';
  return `what it watches has ${changed ? '' : 'not '}changed since the last run that succeeded`;
}

// Making a format takes most of a millisecond, longer than the rest of a prompt, so all runs share the formats.
const formats = new LRUCache<string, ReturnType<typeof formatsOf>>({
  max: 200,
  memoMethod: (timeZone) => formatsOf(timeZone),
});

/** Returns the calendar date of an instant in a time zone, `YYYY-MM-DD`. */
export function localDate(instant: Date, timeZone: string): string {
  return formats.memo(timeZone).date.format(instant);
}

function inWords(instant: Date, timeZone: string): string {
  const { day, time } = formats.memo(timeZone);
  return `${day.format(instant)}, ${time.format(instant)} in ${timeZone} (${instant.toISOString()})`;
}

function formatsOf(timeZone: string) {
  return {
    // Use the Swedish locale, which writes dates as ISO 8601 does.
    date: new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }),
    day: new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
    }),
    time: new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  };
}

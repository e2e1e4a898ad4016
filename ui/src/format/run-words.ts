import type { Shape } from '#ui/api/types.ts';
import { WAITS } from '#ui/api/words.ts';
import { capitalized } from './capitalized.ts';
import { drawn } from './drawn.ts';
import { duration } from './times.ts';
import { unmarked } from './unmarked.ts';

/** Fields from which a run is described. Summaries, details and events have all of them. */
export interface RunInWords {
  readonly state: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly errorMessage: string | null;
}

const END_STATES: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'skipped']);

export function isOver({ state }: Pick<RunInWords, 'state'>): boolean {
  return END_STATES.has(state);
}

/** Tells whether a run does the work of its routine: an answer to a question does not, nor does a rehearsal. */
export function isWork({ trigger }: Pick<Shape<'Run'>, 'trigger'>): boolean {
  return trigger !== 'follow_up' && trigger !== 'rehearsal';
}

/** Chooses the word of the badge: the outcome of a success unless it is `done`, otherwise the state. */
export function badgeOf({ state, outcome }: Pick<RunInWords, 'state' | 'outcome'>): string {
  return state === 'succeeded' && outcome !== null && outcome !== 'done' ? outcome : state;
}

/**
 * Chooses the word of the badge in a list of runs, which people scan for news: a usual success gets a word for the
 * urgency of its result.
 */
export function newsBadgeOf(run: Pick<RunInWords, 'state' | 'outcome'> & Pick<Shape<'Run'>, 'urgency'>): string {
  const badge = badgeOf(run);
  if (run.urgency === 'high') return 'urgent';
  return badge === 'succeeded' && run.urgency !== null ? WEIGHTS[run.urgency] : badge;
}

const WEIGHTS = { none: 'nothing_new', normal: 'news' } as const;

/** Returns the reason of a run's end in words: the error message, or else the named reason; null without either. */
export function reasonOf({ reason, errorMessage }: Pick<RunInWords, 'reason' | 'errorMessage'>): string | null {
  if (errorMessage !== null) return drawn(errorMessage);
  return reason === null ? null : `${humanize(reason)}.`;
}

/** Says why a run waits: "Waiting: the workers are busy." */
export function waitOf(waitingFor: string): string {
  return `Waiting: ${WAITS[waitingFor] ?? humanize(waitingFor).toLowerCase()}.`;
}

export const WARNINGS: Readonly<Record<Shape<'Run'>['warnings'][number], string>> = {
  tools_failed: 'Every call to the tools of a connection failed, so the run had to work without them.',
};

const STARTERS: Readonly<Record<string, string>> = {
  schedule: 'Schedule',
  manual: 'Manually',
  backfill: 'Backfill',
  follow_up: 'A question',
  rehearsal: 'Rehearsal',
};

/** Writes the trigger of a run in words. */
export function starterOf({ trigger }: { readonly trigger: string }): string {
  return STARTERS[trigger] ?? humanize(trigger);
}

const FAULTS: Readonly<Record<string, string>> = {
  routine: 'The cause is in this routine or what it needs. The failure counts towards pausing the routine.',
  provider: 'The model provider failed. This does not count against the routine.',
  platform: 'The service failed. This does not count against the routine.',
};

/** Says whose fault a failure is, and whether it counts against the routine. */
export function faultOf(failureClass: string): string | null {
  return FAULTS[failureClass] ?? null;
}

/**
 * Describes a run in a line: the summary of the model, the reason of its end, or the beginning of its result.
 * @returns undefined if the run has none of them, or only a result that is data
 */
export function lineOf(run: LineSource): string | undefined {
  const { outcomeSummary, resultPreview } = run;
  const result = resultPreview === null || IS_DATA.test(resultPreview) ? '' : resultPreview;
  const [line] = unmarked(outcomeSummary ?? reasonOf(run) ?? result).split('\n', 1);
  return line === '' || line === undefined ? undefined : drawn(line);
}

/** Fields from which the line of a run is made. */
export type LineSource = Pick<RunInWords, 'reason' | 'errorMessage'> &
  Pick<Shape<'RunSummary'>, 'outcomeSummary' | 'resultPreview'>;

/** The beginning of a result that is JSON, also in a fence. */
const IS_DATA = /^\s*(?:```(?:json)?\s*)?(?:\{|\[\s*[[{\d"])/;

/** Returns the time at which a run began. Before that, returns when it is to begin or was requested. */
export function atOf({
  startedAt,
  scheduledFor,
  createdAt,
}: Pick<Shape<'Run'>, 'startedAt' | 'scheduledFor' | 'createdAt'>) {
  return startedAt ?? scheduledFor ?? createdAt;
}

/** Returns the duration of a run or a step in words; empty until it has ended. */
export function tookOf({ startedAt, finishedAt }: Pick<Shape<'Run'>, 'startedAt' | 'finishedAt'>): string {
  return startedAt === null || finishedAt === null ? '' : duration(Date.parse(finishedAt) - Date.parse(startedAt));
}

/** Turns an unknown name into words: "max_total_tokens" becomes "Max total tokens". */
export function humanize(name: string): string {
  return capitalized(name.replaceAll(/[_.]/g, ' '));
}

/**
 * Chooses the word on the badge of a step. Steps that were open at the end of their run are recorded as failed at the
 * same instant, although they did not fail themselves. A call that failed before it began, for any other reason, was
 * refused. A pending step of a running run counts as started.
 */
export function stepBadgeOf(
  { kind, state, startedAt, finishedAt }: Shape<'Step'>,
  run: Pick<Shape<'Run'>, 'state' | 'finishedAt'> | undefined,
): string {
  if (state === 'pending' && run?.state === 'running') return 'started';
  if (state !== 'failed') return state;
  if (run !== undefined && isOver(run) && finishedAt === run.finishedAt) {
    if (run.state === 'cancelled') return 'cancelled';
    return startedAt === null ? 'not_begun' : state;
  }
  return kind === 'tool' && startedAt === null ? 'refused' : state;
}

/** Returns the version that a run executes; a proposed change without a version has no number. */
export function versionOf({ routineRevision }: Pick<Shape<'Run'>, 'routineRevision'>): string {
  return routineRevision < 0 ? 'proposed' : String(routineRevision);
}

/** Names the tool of a call, with the first text among its arguments: "read_page /pricing". */
export function calledWith({ toolName, name, arguments: args }: NonNullable<Shape<'Step'>['tool']>): string {
  const tool = drawn(toolName ?? name);
  const [, text] = /"(?:[^"\\]|\\.)*"\s*:\s*"((?:[^"\\]|\\.){1,200})"/.exec(args ?? '') ?? [];
  if (text === undefined) return tool;
  const url = URL.parse(text);
  const said = url === null || url.host === '' ? text : url.pathname === '/' ? url.host : url.pathname;
  return `${tool} ${drawn(said.length > 60 ? `${said.slice(0, 60)}…` : said)}`;
}

/** The words of model servers for a response that asks for tools. */
const ASKS_FOR_TOOLS = /^(?:tool[-_]?(?:calls?|use)|function[-_]?call)$/i;

/** Tells whether a model step ended by asking for tools. */
export function asksForTools({ finishReason }: Pick<Shape<'Step'>, 'finishReason'>): boolean {
  return ASKS_FOR_TOOLS.test(finishReason ?? '');
}

// Import the file itself, because the subject's index also loads the checks of results, which takes half a second.
import { areNone, compareWith, type DeliveredData } from '#core/authoring/outcomes/changes.ts';
import { costOf, type Prices } from '#core/foundation/cost/index.ts';
import { firstIdAt } from '#lib/ids.ts';
import { nextInTimetable, parseSchedule } from '#lib/schedule/index.ts';
import { pageAsText, readPage } from './pages.ts';
import { daysLater, READ_PAGE, type DemoRoutine, type Written } from './written.ts';

/** A demo routine as the API made it, with the parts of a run's prompt. */
export interface MadeRoutine {
  readonly id: string;
  readonly demo: DemoRoutine;
  readonly model: { readonly modelId: string; readonly prices: Prices | null };
  readonly prompt: string;
  readonly briefing: string;
  /** The tool with which the routine's runs read pages. */
  readonly tool: Readonly<Record<'name' | 'connectionId' | 'policyId', string>>;
}

/** Columns of `steps` that differ from run to run. */
type StepRow = Readonly<Record<string, unknown>> & { readonly finished_at: Date };
/** Columns of `runs`, and the steps of the run. */
export type PastRun = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly finished_at: Date;
  readonly steps: readonly StepRow[];
};

/** An occurrence that is younger than this gets no past run, because a real run could still be open. */
const LONGEST_MS = 120_000;

/**
 * Writes the past of a routine, oldest first: a manual run as proof, and a run for each of the latest times of its
 * schedule. Equal times give equal runs.
 * @param proven false if no run may be a proof, because the model has not been tried
 */
export function pastRunsOf(routine: MadeRoutine, now: Date, proven: boolean): readonly PastRun[] {
  const { demo } = routine;
  const times = latestTimes(demo, new Date(now.getTime() - LONGEST_MS));
  const first = times[0] ?? now;
  const moments = [
    // Place the proof on the day before, in the middle of the working day.
    ...(proven ? [{ at: new Date(first.getTime() - 16 * 3_600_000), scheduledFor: null }] : []),
    ...times.map((time) => ({ at: time, scheduledFor: time })),
  ];
  const runs: PastRun[] = [];
  let delivered: DeliveredData | undefined;
  let previous: Past | undefined;
  for (const [index, { at, scheduledFor }] of moments.entries()) {
    const age = moments.length - 1 - index;
    const written = demo.write({ at, age });
    const run = pastRun(routine, { at, scheduledFor, age, written, previous, delivered });
    runs.push(run.row);
    delivered = run.delivered ?? delivered;
    if (written.outcome !== 'could_not') previous = run;
  }
  return runs;
}

/** Finds the latest times of a schedule before a time, oldest first. */
function latestTimes({ body, pastRuns }: DemoRoutine, before: Date): readonly Date[] {
  const timetable = {
    schedule: parseSchedule(body.schedule),
    timezone: body.timezone,
    startsAt: null,
    endsAt: null,
    skipDates: [],
  };
  const times: Date[] = [];
  // Begin far enough back for two starts of a month.
  let time = nextInTimetable(timetable, daysLater(before, -70));
  while (time !== undefined && time < before) {
    times.push(time);
    time = nextInTimetable(timetable, time);
  }
  return times.slice(-pastRuns);
}

interface Past {
  readonly row: PastRun;
  readonly result: string;
  readonly delivered: DeliveredData | undefined;
}

interface Occasion {
  readonly at: Date;
  readonly scheduledFor: Date | null;
  readonly age: number;
  readonly written: Written;
  readonly previous: Past | undefined;
  readonly delivered: DeliveredData | undefined;
}

function pastRun(routine: MadeRoutine, occasion: Occasion): Past {
  const { id: routineId, demo, model, prompt } = routine;
  const { at, scheduledFor, written, delivered } = occasion;
  const { outcome, summary, data } = written;
  const failed = outcome === 'could_not';
  const createdAt = later(at, 400);
  const startedAt = later(createdAt, 700);
  const id = idAt(createdAt, routineId);
  const result = data === undefined ? (written.text ?? '') : JSON.stringify(data, null, 2);
  const briefing = briefingOf(routine.briefing, startedAt, occasion);
  const steps = stepsOf(routine, { ...occasion, startedAt, briefing, result });
  const used = (field: string) => steps.reduce((sum, step) => sum + Number(step[field] ?? 0), 0);
  const finishedAt = later(steps.at(-1)?.finished_at ?? startedAt, 30);
  const by = demo.body.resultKey ?? null;
  const changes = data === undefined ? undefined : compareWith(delivered, data, by);
  const { against = null, unchangedRuns = null, ...kept } = changes ?? {};
  const isSame = changes !== undefined && against !== null && areNone(changes);
  const row = {
    id,
    routine_id: routineId,
    trigger: scheduledFor === null ? 'manual' : 'schedule',
    state: failed ? 'failed' : 'succeeded',
    reason: failed ? 'could_not' : null,
    error_message: failed ? 'The model stated that it could not do the work.' : null,
    scheduled_for: scheduledFor,
    queue_until: later(createdAt, 6 * 3_600_000),
    admitted_at: later(createdAt, 200),
    workflow_started_at: later(createdAt, 250),
    prompt,
    briefing,
    outcome: failed ? null : outcome,
    outcome_summary: summary,
    result,
    data: data ?? null,
    changes: changes === undefined ? null : kept,
    compared_with: against,
    compared_at: changes === undefined ? null : finishedAt,
    unchanged_runs: unchangedRuns,
    withheld: changes === undefined ? null : 'no_webhook',
    step_count: steps.filter(({ kind }) => kind === 'model').length,
    input_tokens: used('input_tokens'),
    cached_input_tokens: used('cached_input_tokens'),
    output_tokens: used('output_tokens'),
    cost_usd: model.prices === null ? null : used('cost_usd').toFixed(10),
    created_at: createdAt,
    started_at: startedAt,
    finished_at: finishedAt,
    steps: steps.map((step) => ({ ...step, run_id: id })),
  };
  return {
    row,
    result,
    delivered:
      changes === undefined ? undefined : { against: id, data, by, unchangedRuns: isSame ? (unchangedRuns ?? 0) : 0 },
  };
}

/** Makes the id of a run, which sorts by its time and differs between routines. */
function idAt(createdAt: Date, routineId: string): string {
  const timeLength = 'run_'.length + 10;
  return firstIdAt('run', createdAt).slice(0, timeLength) + routineId.slice(timeLength);
}

/** Rewrites the briefing of a run that starts now as the briefing of a past run. */
function briefingOf(now: string, startedAt: Date, occasion: Occasion): string {
  const { scheduledFor, previous } = occasion;
  const lines =
    scheduledFor === null ? [] : [`- Scheduled for: ${timeInWords(scheduledFor)}`, '- Started by: its schedule'];
  const [told = ''] = now.split('\n\nPrevious result:');
  const [date, ...rest] = told
    .split('\n')
    .slice(1)
    .filter((line) => scheduledFor === null || !line.startsWith('- Started by:'));
  const before =
    previous === undefined
      ? 'there is none. No earlier run of this routine is on record as succeeded.'
      : `the one of ${previous.row.finished_at.toISOString()}, the last run that succeeded:\n\n${previous.result}`;
  return [
    'About this run:',
    `${date?.slice(0, date.indexOf(':'))}: ${timeInWords(startedAt)}`,
    ...lines,
    ...rest,
    '',
    `Previous result: ${before}`,
  ].join('\n');
}

const day = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'full' });

function timeInWords(at: Date): string {
  const iso = at.toISOString();
  return `${day.format(at)}, ${iso.slice(11, 16)} in UTC (${iso})`;
}

interface Told extends Occasion {
  readonly startedAt: Date;
  readonly briefing: string;
  readonly result: string;
}

/**
 * Writes the steps of a run: a model step that calls for pages, the parallel reads, and a model step with the result.
 */
function stepsOf(routine: MadeRoutine, told: Told): readonly StepRow[] {
  const { prompt, model } = routine;
  const { written, briefing, startedAt, result } = told;
  const asked = written.reads.map((url) => JSON.stringify({ url }));
  const opening = tokensOf(PREAMBLE_AND_TOOLS, prompt, briefing);
  const asking = modelStep(model, startedAt, {
    input: opening,
    cached: 0,
    output: tokensOf(...asked),
  });
  const calls = toolSteps(routine, told, asking.finished_at);
  const read = calls.map(({ tool }) => tool.result);
  const sent = opening + tokensOf(...asked, ...read);
  const readAt = calls.reduce((latest, { finished_at: end }) => (end > latest ? end : latest), asking.finished_at);
  const output = tokensOf(result, written.summary);
  const ending = modelStep(model, readAt, { input: sent, cached: opening, output });
  return [
    { ...asking, index: 0 },
    ...calls.map((call, offset) => ({ ...call, index: 1 + offset })),
    { ...ending, index: 1 + calls.length, text: written.text },
  ];
}

/** Characters at the beginning of every prompt, those of the tool definitions included. */
const PREAMBLE_AND_TOOLS = ' '.repeat(2_800);

function modelStep(
  { modelId, prices }: MadeRoutine['model'],
  startedAt: Date,
  tokens: { readonly input: number; readonly cached: number; readonly output: number },
) {
  const usage = {
    inputTokens: tokens.input,
    cachedInputTokens: tokens.cached,
    outputTokens: tokens.output,
    reasoningTokens: 0,
  };
  return {
    kind: 'model',
    state: 'succeeded',
    attempt: 1,
    model_id: modelId,
    finish_reason: 'tool-calls',
    input_tokens: tokens.input,
    cached_input_tokens: tokens.cached,
    output_tokens: tokens.output,
    cost_usd: costOf(usage, prices),
    started_at: startedAt,
    finished_at: later(startedAt, 900 + tokens.output * 11),
  };
}

function toolSteps({ tool }: MadeRoutine, { written, at, age }: Told, startedAt: Date) {
  return written.reads.map((url, index) => {
    const page = readPage(url, { at, age, weeks: age });
    const text = page === undefined ? '' : pageAsText(page);
    const failed = page === undefined || page.status >= 500;
    const args = JSON.stringify({ url });
    return {
      kind: 'tool',
      state: failed ? 'failed' : 'succeeded',
      attempt: 1,
      error_message: failed ? 'The tool answered with an error.' : null,
      tool: {
        callId: `call_${index}`,
        name: tool.name,
        toolName: READ_PAGE,
        connectionId: tool.connectionId,
        connectionName: CONNECTION_NAME,
        policyId: tool.policyId,
        arguments: args,
        argumentsLength: args.length,
        isError: failed,
        result: text,
        resultLength: text.length,
        structured: null,
        structuredLength: null,
        attachments: [],
      },
      started_at: later(startedAt, 40),
      finished_at: later(startedAt, 40 + (page?.ms ?? 0)),
    };
  });
}

export const CONNECTION_NAME = 'Demo web';

/** Counts tokens as the fixture model does. */
function tokensOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
}

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

import type { Shape } from 'routine-automation-sdk';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { CliError, usageError } from '../failure.ts';
import { plain } from '../output/plain.ts';
import { between, count, used } from '../output/words.ts';
import { reportProgress } from './progress.ts';

type Run = Shape<'RunDetail'>;

/** Exit codes for ended runs. */
const EXIT_OF: Readonly<Record<string, number>> = {
  succeeded: EXIT.ok,
  failed: EXIT.runFailed,
  cancelled: EXIT.runCancelled,
  skipped: EXIT.runSkipped,
};

/** Waits for a run with progress, writes its result and sets the exit code. Ctrl-C does not cancel the run. */
export async function waitForRun(context: Context, runId: string, timeoutMs: number | undefined): Promise<void> {
  const ras = await context.client();
  const interrupted = context.interrupted();
  const limits = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  const progress = reportProgress(context);
  try {
    const signal = AbortSignal.any([interrupted, ...limits]);
    for await (const event of ras.runs.follow(runId, { signal })) progress.report(event);
    const run = await ras.runs.read(runId, { signal });
    progress.end();
    showEnd(context, run);
  } catch (error) {
    progress.end();
    context.say(`The run goes on. Follow it with: ras runs logs -f ${runId}`);
    context.say(`Stop it with: ras runs cancel ${runId}`);
    if (interrupted.aborted || !limits.some(({ aborted }) => aborted)) throw error;
    throw new CliError('The run has not ended in time.', { exitCode: EXIT.timedOut });
  }
}

/** Writes the result of a run that has ended: its text for people, the whole run as JSON for programs. */
function showEnd(context: Context, run: Run): void {
  context.exitCode = EXIT_OF[run.state] ?? EXIT.failed;
  if (!context.isForPeople) context.out.json(run);
  else if (run.result !== null) context.out.text(run.result);
  // Older services do not list the calls of a rehearsal.
  const staged = run.trigger === 'rehearsal' ? run.wouldHaveDone : [];
  for (const { name, arguments: given } of staged) context.say(`Would have called ${plain(`${name} ${given ?? ''}`)}`);
  context.say(sentenceOf(run));
}

/** Describes the end of a run in one line. */
export function sentenceOf(run: Run): string {
  const { state, outcome, reason, errorMessage } = run;
  const time = between(run.startedAt, run.finishedAt);
  const named = outcome === null || outcome === 'done' ? '' : ` (${outcome.replaceAll('_', ' ')})`;
  const why = [reason, errorMessage].filter(Boolean).join(': ');
  const facts = [time, stepsOf(run), used(run.usage), run.id].filter(Boolean);
  return `${state}${named}${why === '' ? '' : `, ${why}`} · ${facts.join(' · ')}`;
}

/** Counts the steps of a run by their kind; `stepCount` of the API is the first number. */
export function stepsOf({ stepCount, steps }: Pick<Run, 'stepCount' | 'steps'>): string {
  const calls = steps.filter(({ kind }) => kind === 'tool').length;
  return [count(stepCount, 'model step'), ...(calls === 0 ? [] : [count(calls, 'tool step')])].join(', ');
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads a length of time, "90", "90s" or "10m", in milliseconds. @throws {CliError} */
export function timeoutOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const [, digits = '', unit = 's'] = /^(\d+)(ms|s|m|h)?$/.exec(given) ?? [];
  const ms = Number(digits) * (UNITS[unit] ?? 0);
  // Timers of Node.js are shorter than 2^31 ms.
  if (ms >= 1 && ms < 2 ** 31) return ms;
  throw usageError(`"${given}" is not a time to wait, such as 90s, 10m or 2h.`);
}

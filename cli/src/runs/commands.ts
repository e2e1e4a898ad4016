import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Shape } from 'routine-automation-sdk';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { withRoutine, withRun } from '../find.ts';
import { limitOption, listed, pageSize } from '../lists.ts';
import { between, used, when } from '../output/words.ts';
import { logs } from './logs.ts';
import { stepsOf, timeoutOf, waitForRun } from './wait.ts';

const STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'] as const;

export function registerRuns(program: Command, context: Context): void {
  const runs = program.command('runs').description('Look at runs, stop them and repeat them.');
  runs
    .command('list')
    .description('List runs, newest first.')
    .option('--routine <routine>', 'only those of this routine: id, key or name')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .addOption(limitOption())
    .action((options: ListOptions) => list(context, options));
  runs
    .command('get')
    .description('Show a run with its result.')
    .argument('<run>', RUN)
    .action((given: string) => get(context, given));
  runs
    .command('logs')
    .description('Show the steps of a run, with what models and tools said.')
    .argument('<run>', RUN)
    .option('-f, --follow', 'follow the run until it has ended')
    .action((given: string, options: { follow?: boolean }) => logs(context, given, options));
  runs
    .command('cancel')
    .description('Stop a run.')
    .argument('<run>', RUN)
    .action(async (given: string) => {
      showRun(context, await withRun(context, given, (ras, id) => ras.runs.cancel(id)));
    });
  runs
    .command('share')
    .description('Make a link that shows the result to everyone who has it.')
    .argument('<run>', RUN)
    .addOption(new Option('--days <number>', 'days until it ends, at most 90').default(7).argParser(daysOf))
    .action(async (given: string, { days }: { days: number }) => {
      const link = await withRun(context, given, (ras, id) => ras.runs.share(id, { expiresInDays: days }));
      context.out.record(link, { Link: link.url, Ends: when(link.expiresAt) });
    });
  addWaiting(runs.command('retry'))
    .description('Start a new run with the same inputs as an earlier one.')
    .argument('<run>', RUN)
    .action(async (given: string, options: WaitOptions) => {
      const run = await withRun(context, given, (ras, id) => ras.runs.retry(id));
      await showStarted(context, run, options);
    });
}

function daysOf(text: string): number {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= 90) return Number(text);
  throw new InvalidArgumentError('It is a number from 1 to 90.');
}

const RUN = 'id of a run; or a routine by its id, key or name, for its last run';

interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout?: string;
}

interface StartOptions extends WaitOptions {
  readonly var: readonly string[];
  readonly rehearse?: boolean;
}

/** Adds `run`, at the top and under `routines`. */
export function registerRun(parent: Command, context: Context): void {
  addWaiting(parent.command('run'))
    .description('Start a run of a routine.')
    .argument('<routine>', 'id, key or name')
    .option('--var <name=value>', 'value of a variable for this run; may be given again', collect, [])
    .option('--rehearse', 'call only tools that read; the other calls are listed and not made')
    .action(async (given: string, options: StartOptions) => {
      const variables = variablesOf(options.var);
      // Report a faulty time before anything is started.
      timeoutOf(options.timeout);
      const body = { variables, ...(options.rehearse === true ? ({ mode: 'rehearse' } as const) : {}) };
      const run = await withRoutine(context, given, (ras, id) => ras.routines.run(id, body));
      await showStarted(context, run, options);
    });
}

function addWaiting(command: Command): Command {
  return command
    .option('--wait', 'wait until the run has ended, and write its result')
    .option('--timeout <time>', 'wait no longer than this: 90s, 10m, 2h (means --wait)')
    .addHelpText('after', EXITS);
}

const EXITS = `
Exit codes with --wait: 0 succeeded, 10 failed, 11 cancelled, 12 skipped, 124 not ended in time.`;

export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

/** Reads values that are given as `name=value`. */
export function variablesOf(given: readonly string[], option = '--var'): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const at = each.indexOf('=');
      if (at < 1) throw usageError(`${option} takes name=value, and not "${each}".`);
      return [each.slice(0, at), each.slice(at + 1)];
    }),
  );
}

async function showStarted(context: Context, run: Shape<'Run'>, { wait = false, timeout }: WaitOptions): Promise<void> {
  const timeoutMs = timeoutOf(timeout);
  if (wait || timeoutMs !== undefined) return waitForRun(context, run.id, timeoutMs);
  showRun(context, run);
}

function showRun(context: Context, run: Shape<'Run'>): void {
  context.out.record(run, {
    Run: run.id,
    Routine: run.routineId,
    State: run.state,
    Reason: run.reason,
    'Asked to stop': when(run.cancelRequestedAt),
  });
}

interface ListOptions {
  readonly routine?: string;
  readonly state?: (typeof STATES)[number];
  readonly limit: number;
}

async function list(context: Context, { routine, limit, ...filters }: ListOptions): Promise<void> {
  const query = { ...filters, limit: pageSize(limit) };
  const runs =
    routine === undefined
      ? await listed(context, (await context.client()).runs.list(query), limit)
      : await withRoutine(context, routine, (ras, id) => listed(context, ras.routines.runs(id, query), limit));
  context.out.table(runs, [
    { title: 'run', whole: true, value: ({ id }) => id },
    { title: 'routine', value: ({ routineName }) => routineName },
    { title: 'state', value: ({ state, outcome }) => [state, outcome].filter(Boolean).join(', ') },
    { title: 'reason', value: ({ reason }) => reason },
    { title: 'started', value: ({ startedAt, createdAt }) => when(startedAt ?? createdAt) },
    { title: 'time', align: 'right', value: (run) => between(run.startedAt, run.finishedAt) },
    { title: 'tokens', align: 'right', value: ({ usage }) => usage.totalTokens },
  ]);
}

async function get(context: Context, given: string): Promise<void> {
  const run = await withRun(context, given, (ras, id) => ras.runs.read(id));
  const { routineName, routineId, routineRevision, outcome } = run;
  context.out.record(run, {
    Run: run.id,
    Routine: `${routineName} (${routineId}, revision ${routineRevision})`,
    State: [run.state, outcome].filter(Boolean).join(', '),
    'Waits for': run.waitingFor,
    Reason: run.reason,
    Error: run.errorMessage,
    Trigger: run.trigger,
    Created: when(run.createdAt),
    Started: when(run.startedAt),
    Time: between(run.startedAt, run.finishedAt),
    Steps: stepsOf(run),
    Used: used(run.usage),
    Summary: run.outcomeSummary,
    Urgency: run.urgency,
    Warnings: run.warnings.join(', ') || null,
    'Would have done': run.trigger === 'rehearsal' ? stagedIn(run) : null,
  });
  if (context.isForPeople && run.result !== null) context.out.text(`\n${run.result}`);
}

function stagedIn({ wouldHaveDone }: Shape<'RunDetail'>): string {
  return wouldHaveDone.map(({ name, arguments: given }) => `${name} ${given ?? ''}`).join('; ');
}

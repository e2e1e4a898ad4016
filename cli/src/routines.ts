import { Option, type Command } from 'commander';
import type { Ras, Shape } from 'routine-automation-sdk';
import { confirmed } from './ask.ts';
import type { Context } from './context.ts';
import { fieldsOf } from './failure.ts';
import { withRoutine } from './find.ts';
import { limitOption, listed, pageSize } from './lists.ts';
import { when } from './output/words.ts';
import { registerCreate } from './create.ts';
import { registerRun } from './runs/commands.ts';
import { registerWebhooks } from './webhooks/commands.ts';

const STATES = ['draft', 'active', 'paused', 'archived'] as const;

export function registerRoutines(program: Command, context: Context): void {
  const routines = program.command('routines').description('Look at routines and start them.');
  routines
    .command('list')
    .description('List routines, newest first.')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .addOption(limitOption())
    .action((options: ListOptions) => list(context, options));
  routines
    .command('get')
    .description('Show a routine with its instructions.')
    .argument('<routine>', ROUTINE)
    .action((given: string) => get(context, given));
  registerCreate(routines, context);
  registerRun(routines, context);
  routines
    .command('activate')
    .description('Start the schedule of a routine that has run successfully as it is.')
    .argument('<routine>', ROUTINE)
    .action((given: string) => change(context, given, (ras, id) => ras.routines.activate(id)));
  routines
    .command('pause')
    .description('Stop the schedule of a routine.')
    .argument('<routine>', ROUTINE)
    .action((given: string) => change(context, given, (ras, id) => ras.routines.pause(id)));
  routines
    .command('archive')
    .description('Take a routine out of use. Its runs stay, and restore brings it back.')
    .argument('<routine>', ROUTINE)
    .option('-y, --yes', 'do not ask')
    .action((given: string, options: { yes?: boolean }) => archive(context, given, options));
  routines
    .command('restore')
    .description('Bring back an archived routine, as a draft with its history.')
    .argument('<routine>', ROUTINE)
    .action((given: string) => change(context, given, (ras, id) => ras.routines.restoreArchived(id)));
  registerWebhooks(routines, context);
  routines
    .command('versions')
    .description('List the versions of a routine, newest first.')
    .argument('<routine>', ROUTINE)
    .addOption(limitOption())
    .action((given: string, options: { limit: number }) => versions(context, given, options));
}

const ROUTINE = 'id, key or name';

interface ListOptions {
  readonly state?: (typeof STATES)[number];
  readonly limit: number;
}

async function list(context: Context, { limit, ...filters }: ListOptions): Promise<void> {
  const ras = await context.client();
  const pages = ras.routines.list({ ...filters, limit: pageSize(limit) });
  context.out.table(await listed(context, pages, limit), [
    { title: 'routine', whole: true, value: ({ id }) => id },
    { title: 'key', value: keyOf },
    { title: 'name', value: ({ name }) => name },
    { title: 'state', value: ({ state }) => state },
    { title: 'schedule', value: ({ schedule, timezone }) => `${schedule} ${timezone}` },
    { title: 'next run', value: ({ nextRunAt }) => when(nextRunAt) },
    { title: 'last run', value: ({ lastRunAt }) => when(lastRunAt) },
  ]);
}

async function get(context: Context, given: string): Promise<void> {
  const routine = await withRoutine(context, given, (ras, id) => ras.routines.read(id));
  const { schedule, scheduleInWords, timezone, skills } = routine;
  show(context, routine, {
    Schedule: `${scheduleInWords}, ${timezone} (${schedule})`,
    Model: routine.model.modelId,
    Skills: skills.map(String).join(', '),
    'Next run': when(routine.nextRunAt),
    'Last run': when(routine.lastRunAt),
    Changed: when(routine.updatedAt),
  });
  if (context.isForPeople) context.out.text(`\n${routine.instructions}`);
}

function show(context: Context, routine: Shape<'Routine'>, more: Readonly<Record<string, string | null>> = {}): void {
  context.out.record(routine, {
    Routine: routine.id,
    Key: keyOf(routine),
    Name: routine.name,
    State: routine.state,
    Because: routine.stateReason,
    Revision: routine.revision,
    ...more,
  });
}

async function change(
  context: Context,
  given: string,
  act: (ras: Ras, id: string) => PromiseLike<Shape<'Routine'>>,
): Promise<void> {
  const routine = await withRoutine(context, given, act);
  show(context, routine, { 'Next run': when(routine.nextRunAt) });
}

async function archive(context: Context, given: string, { yes = false }): Promise<void> {
  const read = await withRoutine(context, given, (ras, id) => ras.routines.read(id));
  if (!yes) await confirmed(context, `Archive "${read.name}"?`);
  await change(context, read.id, (ras, id) => ras.routines.archive(id));
}

async function versions(context: Context, given: string, { limit }: { readonly limit: number }): Promise<void> {
  const query = { limit: pageSize(limit) };
  const found = await withRoutine(context, given, (ras, id) =>
    listed(context, ras.routines.versions(id, query), limit),
  );
  context.out.table(found, [
    { title: 'revision', align: 'right', value: ({ revision }) => revision },
    { title: 'created', value: ({ createdAt }) => when(createdAt) },
    { title: 'by', value: ({ createdBy }) => nameOf(createdBy) },
    { title: 'changed', value: ({ changed }) => changed.join(', ') },
    { title: 'restored', align: 'right', value: ({ restoredFrom }) => restoredFrom },
  ]);
}

function nameOf(author: unknown): string | null {
  const { name, id } = fieldsOf(author);
  return typeof name === 'string' ? name : typeof id === 'string' ? id : null;
}

function keyOf(routine: object): string | null {
  const { externalKey } = fieldsOf(routine);
  return typeof externalKey === 'string' ? externalKey : null;
}

import type { Command } from 'commander';
import type { Shape } from 'routine-automation-sdk';
import { confirmed } from './ask.ts';
import type { Context } from './context.ts';
import { CliError, usageError } from './failure.ts';
import { when } from './output/words.ts';
import { collect, variablesOf } from './runs/commands.ts';

interface CreateOptions {
  readonly blueprint?: string;
  readonly set: readonly string[];
  readonly timezone?: string;
  readonly schedule?: string;
  readonly model?: string;
  readonly draft?: boolean;
  readonly yes?: boolean;
}

/** Adds `create` and `blueprints` below `routines`. */
export function registerCreate(routines: Command, context: Context): void {
  routines
    .command('create')
    .description('Draft a routine from a sentence or a blueprint, and save it after a question.')
    .argument('[sentence]', 'what it shall do, and when')
    .option('--blueprint <id>', 'a blueprint in place of the sentence')
    .option('--set <name=value>', 'value of a slot of the blueprint; may be given again', collect, [])
    .option('--timezone <zone>', 'time zone of its schedule (default: that of this machine)')
    .option('--schedule <cron>', 'five cron fields, in place of what was drafted')
    .option('--model <id>', 'a model of the service, in place of what was drafted')
    .option('--draft', 'show the draft and save nothing')
    .option('-y, --yes', 'save without asking')
    .action((sentence: string | undefined, options: CreateOptions) => create(context, sentence, options));
  routines
    .command('blueprints')
    .description('List routines that a few answers complete.')
    .action(async () => {
      const ras = await context.client();
      context.out.table(await ras.routines.blueprints(), [
        { title: 'blueprint', whole: true, value: ({ id }) => id },
        { title: 'job', value: ({ job }) => job },
        { title: 'promise', value: ({ promise }) => promise },
        { title: 'slots', value: ({ slots }) => slots.map(({ name, type }) => `${name} (${type})`).join(', ') },
      ]);
    });
}

async function create(context: Context, sentence: string | undefined, options: CreateOptions): Promise<void> {
  const from = sourceOf(sentence, options);
  const timezone = options.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const ras = await context.client();
  const drafted = await ras.routines.draft({ ...from, timezone });
  const definition = {
    ...drafted.definition,
    ...(options.schedule === undefined ? {} : { schedule: options.schedule }),
    ...(options.model === undefined
      ? {}
      : { model: { provider: 'gateway' as const, connectionId: null, modelId: options.model } }),
  };
  if (options.draft === true) return show(context, { ...drafted, definition });
  const { schedule, model } = definition;
  if (context.canAsk || schedule === null || model === null) describe(context, { ...drafted, definition });
  if (schedule === null) throw new CliError('The draft has no schedule: say when in other words, or give --schedule.');
  if (model === null) throw new CliError('The draft has no model: give --model.');
  if (options.yes !== true) await confirmed(context, `Save "${definition.name}" as a draft?`);
  const routine = await ras.routines.create({ ...definition, schedule, model });
  context.out.record(routine, { Routine: routine.id, Name: routine.name, State: routine.state });
}

function sourceOf(sentence: string | undefined, { blueprint, set }: CreateOptions) {
  if (sentence !== undefined && blueprint === undefined && set.length === 0) return { sentence };
  if (sentence === undefined && blueprint !== undefined) return { blueprint, values: variablesOf(set, '--set') };
  throw usageError('Give a sentence, or --blueprint with --set for each of its slots.');
}

function show(context: Context, draft: Shape<'RoutineDraft'>): void {
  if (context.isForPeople) describe(context, draft);
  else context.out.json(draft);
}

/** Describes a draft on stderr, so that stdout has only the saved routine. */
function describe(
  context: Context,
  { definition, assumptions, questions, nextRuns, missing, similar }: Shape<'RoutineDraft'>,
) {
  const { name, schedule, timezone, model, skills, instructions } = definition;
  const lines = [
    ['Name', name],
    ['Schedule', schedule === null ? '' : `${schedule} ${timezone}`],
    ['Next run', when(nextRuns[0] ?? null) ?? ''],
    ['Model', model?.modelId ?? ''],
    ['Skills', skills.join(', ')],
    ['To connect', missing.connections.join(', ')],
    ['To confirm', missing.tools.map(({ toolName, connectionName }) => `${toolName} of ${connectionName}`).join(', ')],
    ['Similar', similar.map((each) => each.name).join(', ')],
    ...assumptions.map((each) => ['Assumed', each]),
    ...questions.map((each) => ['Question', each]),
  ];
  for (const [title = '', text = ''] of lines) if (text !== '') context.say(`${title.padEnd(11)} ${text}`);
  for (const line of instructions.split('\n')) context.say(`  ${line}`);
}

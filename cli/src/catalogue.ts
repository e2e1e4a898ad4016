import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Context } from './context.ts';
import { withSkill } from './find.ts';
import { limitOption, listed, pageSize } from './lists.ts';
import { used, when } from './output/words.ts';

/** Adds `skills`, `connections` and `usage`. */
export function registerCatalogue(program: Command, context: Context): void {
  const skills = program.command('skills').description('Show the skills that can be attached to routines.');
  skills
    .command('list')
    .description('List the skills of the project, and then the curated ones.')
    .addOption(limitOption())
    .action((options: { limit: number }) => listSkills(context, options));
  skills
    .command('get')
    .description('Show a skill with its instructions.')
    .argument('<skill>', 'id, slug, key or name')
    .action((given: string) => getSkill(context, given));
  program
    .command('connections')
    .description('Look at tool servers and accounts.')
    .command('list')
    .description('List the connections of the project.')
    .addOption(limitOption())
    .action((options: { limit: number }) => listConnections(context, options));
  program
    .command('usage')
    .description('Sum up tokens and costs of the project.')
    .option('--from <day>', 'the first day, such as 2026-11-01', dayOf)
    .option('--to <day>', 'the last day', dayOf)
    .addOption(new Option('--by <what>', 'what to sum up by').choices(GROUPS).default('day'))
    .action((options: UsageOptions) => usage(context, options));
}

async function listSkills(context: Context, { limit }: { limit: number }): Promise<void> {
  const ras = await context.client();
  const pages = ras.skills.list({ limit: pageSize(limit) });
  context.out.table(await listed(context, pages, limit), [
    { title: 'skill', whole: true, value: ({ id, slug }) => id ?? slug },
    { title: 'name', value: ({ name }) => name },
    { title: 'category', value: ({ category }) => category },
    { title: 'description', value: ({ description }) => description },
  ]);
}

async function getSkill(context: Context, given: string): Promise<void> {
  const skill = await withSkill(context, given, (ras, id) => ras.skills.read(id));
  context.out.record(skill, {
    Skill: skill.id ?? skill.slug,
    Name: skill.name,
    Category: skill.category,
    Version: skill.version ?? skill.revision,
    Description: skill.description,
    Changed: when(skill.updatedAt),
  });
  if (context.isForPeople) context.out.text(`\n${skill.instructions}`);
}

async function listConnections(context: Context, { limit }: { limit: number }): Promise<void> {
  const ras = await context.client();
  const pages = ras.connections.list({ limit: pageSize(limit) });
  context.out.table(await listed(context, pages, limit), [
    { title: 'connection', whole: true, value: ({ id }) => id },
    { title: 'name', value: ({ name }) => name },
    { title: 'kind', value: ({ kind, provider }) => provider ?? kind.replaceAll('_', ' ') },
    { title: 'account', value: ({ accountLabel }) => accountLabel },
    { title: 'state', value: ({ state }) => state.replaceAll('_', ' ') },
    { title: 'error', value: ({ error }) => error?.message },
  ]);
}

const GROUPS = ['day', 'routine', 'model'] as const;

interface UsageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: (typeof GROUPS)[number];
}

function dayOf(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  throw new InvalidArgumentError('It is a day such as 2026-11-01.');
}

async function usage(context: Context, { by, ...days }: UsageOptions): Promise<void> {
  const ras = await context.client();
  const sums = await ras.usage.read({ ...days, groupBy: by });
  if (!context.isForPeople) return context.out.json(sums);
  const names = new Map<string, string>();
  if (by === 'routine' && sums.groups.length > 0) {
    for await (const { id, name } of ras.routines.list({ limit: 200 })) names.set(id, name);
  }
  context.out.table(sums.groups, [
    { title: by, value: ({ key }) => names.get(key) ?? key },
    { title: 'steps', align: 'right', value: ({ steps }) => steps },
    { title: 'input', align: 'right', value: ({ inputTokens }) => inputTokens },
    { title: 'cached', align: 'right', value: ({ cachedInputTokens }) => cachedInputTokens },
    { title: 'output', align: 'right', value: ({ outputTokens }) => outputTokens },
    { title: 'usd', align: 'right', value: ({ costUsd }) => costUsd },
  ]);
  context.say(`${sums.from} to ${sums.to}: ${used(sums.total)}`);
}

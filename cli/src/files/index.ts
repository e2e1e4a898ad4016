import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Context } from '../context.ts';
import type { ApplyOptions, Dir, Named, PlanOptions } from './commands.ts';
import { JOB_KINDS, type JobKind } from './import/jobs.ts';

/** Adds the commands of routines as files. Their code is loaded when one of them is called. */
export function registerFiles(program: Command, context: Context): void {
  const load = () => import('./commands.ts');
  const add = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('-C, --dir <folder>', 'folder of ras.yaml, instead of this one');

  add('init', 'Make a folder ready for routines as files.')
    .option('--project <id>', 'id or name of the only project that the files are for')
    .action(async (options: Dir & { project?: string }) => (await load()).initFiles(context, options));

  add('pull', 'Write the routines and skills of the project as files, all or some.')
    .argument('[names...]', 'ids, keys or names')
    .option('--force', 'overwrite files that differ')
    .option('--env <name>', ENVIRONMENT)
    .option('--take-over', 'also what another folder keeps')
    .action(async (names: string[], options: Dir & { force?: boolean; takeOver?: boolean }) =>
      (await load()).pullFiles(context, names, options),
    );

  add('plan', 'Check the files, and show what apply would change. Nothing is written.')
    .option('--out <file>', 'keep the plan, for ras apply <file>')
    .addOption(new Option('--format <form>', 'how to show it').choices(['text', 'json', 'markdown']))
    .option('--exit-code', 'exit with 2 where there are changes, 0 where there are none; errors are 1')
    .option('--refuse-drift', 'fail where something was changed beside the files')
    .option('--env <name>', ENVIRONMENT)
    .option('--take-over', 'also take what another folder keeps')
    .action(async (options: PlanOptions) => (await load()).planFiles(context, options));

  add('apply', 'Write the files to the project.')
    .argument('[plan]', 'a plan of ras plan --out; refuses what changed since')
    .option('--prove', 'run each draft once, and activate it where the run succeeded')
    .option('--max-cost <usd>', 'with --prove: start no run that could pass this', dollars)
    .option('--prune', 'archive what this folder keeps and has no file any more')
    .option('--prune-all', 'also where that is most of what the folder keeps')
    .option('--secrets-out <file>', 'write signing secrets of new webhooks to this file, as JSON by key')
    .option('--refuse-drift', 'fail where something was changed beside the files')
    .option('--env <name>', ENVIRONMENT)
    .option('--take-over', 'also take what another folder keeps')
    .option('-y, --yes', 'ask nothing')
    .action(async (file: string | undefined, options: ApplyOptions) =>
      (await load()).applyFiles(context, file, options),
    );

  add('import', 'Write files from the jobs of another program, without asking the service.')
    .addArgument(new Argument('<kind>', 'what made the file').choices(JOB_KINDS))
    .argument('<file>', 'their file')
    .option('--model <id>', 'model of the routines, one of the service’s own')
    .option('--timezone <name>', 'where the jobs name none')
    .option('--prompts <folder>', 'with claude: folder of <task>/SKILL.md (~/.claude/scheduled-tasks)')
    .action(async (kind: JobKind, file: string, options: Dir & Named) =>
      (await load()).importFiles(context, [kind, file], options),
    );
}

const ENVIRONMENT = 'the environment of ras.yaml whose model, variables, webhook and project count';

function dollars(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0) {
    throw new InvalidArgumentError('US dollars above 0, such as 0.50.');
  }
  return value;
}

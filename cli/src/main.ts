import { Command, CommanderError, Option } from 'commander';
import { registerActions } from './actions.ts';
import { registerCatalogue } from './catalogue.ts';
import { registerChats } from './chats.ts';
import { registerCompletion } from './completion.ts';
import { createContext, type Context } from './context.ts';
import { registerOpen } from './dashboard.ts';
import { registerDoctor } from './doctor.ts';
import { EXIT } from './exit-codes.ts';
import { registerFiles } from './files/index.ts';
import { registerMcp } from './mcp/commands.ts';
import { registerRoutines } from './routines.ts';
import { registerRun, registerRuns } from './runs/commands.ts';
import { registerQuestions } from './runs/questions.ts';
import { registerSignIn } from './sign-in/commands.ts';
import { ownVersion } from './version.ts';
import { registerListen } from './webhooks/commands.ts';
import { worldOfProcess, type GlobalOptions, type World } from './world.ts';

/** Runs one command line, without the name of the program, and returns the exit code. */
export async function main(args: readonly string[], world: World): Promise<number> {
  const program = new Command('ras');
  const context = createContext(world, () => program.opts<GlobalOptions>());
  program
    .description('The Routine Automation Service in a terminal.')
    .version(ownVersion(), '-V, --version')
    .option('--json', 'write JSON, also to a terminal')
    .addOption(new Option('--text', 'write text, also to a file or program').conflicts(['json', 'fields']))
    .addOption(
      new Option('--fields <names>', 'write JSON with these fields only, such as id,usage.costUsd').argParser((names) =>
        names.split(','),
      ),
    )
    .option('--profile <name>', 'use this sign-in (RAS_PROFILE)')
    .option('--api-url <address>', 'address of the service (RAS_API_URL)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      getOutHelpWidth: () => world.stdout.columns || 80,
      getErrHelpWidth: () => world.stderr.columns || 80,
      writeErr: (text) => void world.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, 'Error:')),
    })
    .exitOverride();
  register(program, context);
  for (const each of program.commands) inherit(each, program);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) context.fail(error);
    // Requested help and the version are not errors. Other messages were printed already.
    else if (error.exitCode === 0) context.exitCode = EXIT.ok;
    // Report a wrong command line of `plan` as a failure, because its exit code 2 means changes.
    else context.exitCode = program.args[0] === 'plan' ? EXIT.failed : EXIT.usage;
  }
  return context.exitCode;
}

/** Runs the command line of this process. */
export async function start(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    // Stop when the reader of stdout has closed it, as `head` does.
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit();
      process.stderr.write(`Error: the output cannot be written: ${error.message}\n`);
      process.exit(EXIT.failed);
    });
  }
  process.exitCode = await main(process.argv.slice(2), worldOfProcess());
}

function register(program: Command, context: Context): void {
  registerSignIn(program, context);
  registerOpen(program, context);
  registerDoctor(program, context);
  registerRun(program, context);
  registerRoutines(program, context);
  registerRuns(program, context);
  registerActions(program, context);
  registerQuestions(program, context);
  registerListen(program, context);
  registerCatalogue(program, context);
  registerChats(program, context);
  registerFiles(program, context);
  registerMcp(program, context);
  registerCompletion(program, context);
  program
    .command('version')
    .description('Show the version of ras.')
    .action(() => context.out.text(ownVersion()));
}

/** Makes commands that were created separately write and exit as the program does. */
function inherit(command: Command, parent: Command): void {
  command.copyInheritedSettings(parent);
  for (const each of command.commands) inherit(each, command);
}

import { Argument, type Command, type Option } from 'commander';
import type { Context } from './context.ts';

/**
 * Each script asks `ras` for the possible next words, so a script stays right when `ras` changes. If `ras` returns no
 * next word, the shell completes file names.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_ras() {
  local IFS=$'\\n'
  COMPREPLY=($(ras __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _ras ras
`,
  zsh: `#compdef ras
_ras() {
  local -a candidates
  candidates=(\${(f)"$(ras __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#candidates )); then compadd -a candidates; else _files; fi
}
compdef _ras ras
`,
  fish: `function __ras_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (ras __complete -- $words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path $words[-1]
  end
end
complete -c ras -f -a '(__ras_complete)'
`,
};

/** Adds `completion`, and the hidden command that its scripts call. */
export function registerCompletion(program: Command, context: Context): void {
  const shells = Object.keys(SCRIPTS);
  program
    .command('completion')
    .description('Write a script that completes commands in a shell.')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText('after', `\nFor bash, in ~/.bashrc: source <(ras completion bash)`)
    .action((shell: string) => {
      context.out.text(SCRIPTS[shell] ?? '');
    });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      const { command, found } = candidates(program, words);
      const begun = words.at(-1) ?? '';
      const named = found.length > 0 || begun.startsWith('-') ? [] : await namesFor(command, context);
      const fitting = [...found, ...named].filter((each) => each.startsWith(begun));
      if (fitting.length > 0) context.out.text(fitting.join('\n'));
    });
}

const ROUTINES: ReadonlySet<string> = new Set(['routine', 'run', 'routine|run']);

/** Returns keys or ids for the argument of a command. Returns none without a sign-in, or if the service is slow. */
async function namesFor(command: Command, context: Context): Promise<string[]> {
  const argument = command.registeredArguments[0]?.name() ?? '';
  try {
    if (ROUTINES.has(argument)) {
      const routines = await (await context.client()).routines.list({ limit: 200 }, SOON).toArray({ limit: 200 });
      return routines.map(({ id, externalKey }) => externalKey ?? id);
    }
    if (argument !== 'skill') return [];
    const skills = await (await context.client()).skills.list({ limit: 200 }, SOON).toArray({ limit: 200 });
    return skills.map(({ id, slug, externalKey }) => externalKey ?? slug ?? id ?? '');
  } catch {
    return [];
  }
}

const SOON = { timeoutMs: 2_000, maxRetries: 0 };

/** Returns the command that the words before the last one choose, and the next words that need no request. */
function candidates(program: Command, words: readonly string[]) {
  let command = program;
  let open: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (open !== undefined) open = undefined;
    else if (word.startsWith('-')) open = optionOf(command, program, word);
    else command = command.commands.find((each) => each.name() === word) ?? command;
  }
  const begun = words.at(-1) ?? '';
  const found = possible(command, program, { open, begun });
  // Propose no argument of the command while an option awaits its value.
  return { command: open === undefined ? command : program, found };
}

function possible(
  command: Command,
  program: Command,
  { open, begun }: { open: Option | undefined; begun: string },
): readonly string[] {
  if (open !== undefined) return open.argChoices ?? [];
  if (begun.startsWith('-')) {
    const options = [...command.options, ...program.options].filter(({ hidden }) => !hidden);
    return [...new Set(options.map(({ long, short }) => long ?? short ?? ''))];
  }
  const visible = command.createHelp().visibleCommands(command);
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  return [...visible.map((each) => each.name()), ...choices];
}

/** Returns the option of a word if the next word is its value. */
function optionOf(command: Command, program: Command, word: string): Option | undefined {
  const options = [...command.options, ...program.options];
  return options.find((each) => [each.long, each.short].includes(word) && each.required);
}

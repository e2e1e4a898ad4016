import type { Context } from './context.ts';
import { Interrupted } from './world.ts';
import { CliError, usageError } from './failure.ts';
import { plainLine } from './output/plain.ts';

/** Asks before an action that cannot be undone; without a terminal `--yes` is required. */
export async function confirmed(context: Context, question: string): Promise<void> {
  if (!context.canAsk) throw usageError(`${question} There is no terminal to ask: give --yes.`);
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({
    message: plainLine(question),
    initialValue: false,
    ...streams(context),
  });
  if (isCancel(answer)) throw new Interrupted();
  if (!answer) throw new CliError('Nothing was changed.');
}

/** Asks for a line of text; `secret` shows no character. The caller has checked that it can ask. */
export async function askedFor(
  context: Context,
  message: string,
  { secret = false, initialValue = '' } = {},
): Promise<string> {
  const { isCancel, password, text } = await import('@clack/prompts');
  const answer = await (secret
    ? password({ message, ...streams(context) })
    : text({ message, initialValue, ...streams(context) }));
  if (isCancel(answer)) throw new Interrupted();
  return answer.trim();
}

/** Questions go to stderr, because stdout is for data. */
function streams({ stdin, stderr }: Context) {
  return { input: stdin, output: stderr };
}

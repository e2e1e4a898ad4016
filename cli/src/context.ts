import type { Ras } from 'routine-automation-sdk';
import { EXIT } from './exit-codes.ts';
import { explain } from './explain.ts';
import { createOutput, type Output } from './output/output.ts';
import { plainLine } from './output/plain.ts';
import { masked } from './profiles/mask.ts';
import { signedIn, type Account } from './profiles/account.ts';
import type { GlobalOptions, World } from './world.ts';

/** The client, the output and the options of a command. */
export interface Context extends World {
  readonly options: GlobalOptions;
  /** Tells whether people read stdout: a terminal without `--json`, or any stream with `--text`. */
  readonly isForPeople: boolean;
  /** Tells whether a question can be asked: stdin and stderr are a terminal. */
  readonly canAsk: boolean;
  /** Data, on stdout: tables and text for people, JSON for programs. */
  readonly out: Output;
  /** Exit code. A command sets it to report an end that is neither success nor error. */
  exitCode: number;
  /**
   * Returns a client of the service.
   * @throws {CliError} with exit code 4 without a signed-in account
   */
  client(): Promise<Ras>;
  /** Returns the address and the API key in use. @throws {CliError} as `client` */
  account(): Promise<Account>;
  /** Writes a message to stderr, without control characters. */
  say(line: string): void;
  /** Writes an error to stderr, with secrets masked, and sets the exit code. A command throws and does not call it. */
  fail(error: unknown): void;
}

/** Makes the context of one call of `ras`; the options are read once the command line is parsed. */
export function createContext(world: World, options: () => GlobalOptions): Context {
  let account: Promise<Account> | undefined;
  let client: Promise<Ras> | undefined;
  let known: Account | undefined;
  const isForPeople = () => {
    const { json = false, text = false, fields } = options();
    return (world.stdout.isTTY === true || text) && !json && fields === undefined;
  };
  const context: Context = {
    ...world,
    get options() {
      return options();
    },
    get isForPeople() {
      return isForPeople();
    },
    canAsk: world.stdin.isTTY === true && world.stderr.isTTY === true,
    out: createOutput(world, isForPeople, () => options().fields),
    exitCode: EXIT.ok,
    async account() {
      known = await (account ??= signedIn(world, options()));
      return known;
    },
    async client() {
      return (client ??= connect(await context.account(), world));
    },
    say(line) {
      world.stderr.write(`${plainLine(line)}\n`);
    },
    fail(error) {
      const { lines, exitCode } = explain(error, known);
      for (const line of lines) context.say(masked(line, known?.apiKey));
      context.exitCode = exitCode;
    },
  };
  return context;
}

/** The SDK is loaded only here, because `ras --help` does not need it. */
async function connect({ apiKey, baseUrl }: Account, { fetch }: World): Promise<Ras> {
  const { Ras } = await import('routine-automation-sdk');
  return new Ras({ apiKey, baseUrl, fetch, exactNumbers: true });
}

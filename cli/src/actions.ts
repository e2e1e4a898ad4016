import { Option, type Command } from 'commander';
import type { Ras, Shape } from 'routine-automation-sdk';
import { confirmed } from './ask.ts';
import type { Context } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { usageError } from './failure.ts';
import { withRoutine } from './find.ts';
import { limitOption, listed, pageSize } from './lists.ts';
import { when } from './output/words.ts';

const STATES = [
  'open',
  'approved',
  'sending',
  'done',
  'failed',
  'outcome_unknown',
  'rejected',
  'replaced',
  'closed',
] as const;

export function registerActions(program: Command, context: Context): void {
  const actions = program.command('actions').description('Look at held calls of tools, approve and reject them.');
  actions
    .command('list')
    .description('List held calls, newest first; those that wait for a person unless --state says otherwise.')
    .option('--routine <routine>', 'only those of this routine: id, key or name')
    .addOption(new Option('--state <state>', 'only those in this state').choices([...STATES, 'any']).default('open'))
    .addOption(limitOption())
    .action((options: ListOptions) => list(context, options));
  actions
    .command('show')
    .description('Show a held call with its arguments and its digest.')
    .argument('<action>', ACTION)
    .action(async (id: string) => show(context, await (await context.client()).actions.read(id)));
  actions
    .command('approve')
    .description('Show held calls, ask, and have them sent as they were shown.')
    .argument('<action...>', ACTION)
    .option('--digest <digest...>', 'of each call that you have seen, in the same order; nothing is asked then')
    .option('--arguments <json>', 'send these arguments instead; for one call only')
    .action((ids: string[], options: ApproveOptions) => approve(context, ids, options));
  actions
    .command('reject')
    .description('Have held calls never sent.')
    .argument('<action...>', ACTION)
    .option('--reason <text>', 'why, which later runs of the routine are told')
    .action(async ([id = '', ...others]: string[], { reason = null }: { reason?: string | null }) => {
      const { actions: held } = await context.client();
      if (others.length === 0) return show(context, await held.reject(id, { reason }));
      return verdicts(
        context,
        await held.rejectAll({ actions: [id, ...others].map((each) => ({ id: each })), reason }),
      );
    });
}

const ACTION = 'id of a held call';

interface ListOptions {
  readonly routine?: string;
  readonly state: (typeof STATES)[number] | 'any';
  readonly limit: number;
}

async function list(context: Context, { routine, state, limit }: ListOptions): Promise<void> {
  const query = { limit: pageSize(limit), ...(state === 'any' ? {} : { state }) };
  const found =
    routine === undefined
      ? await listed(context, (await context.client()).actions.list(query), limit)
      : await withRoutine(context, routine, (ras, routineId) =>
          listed(context, ras.actions.list({ ...query, routineId }), limit),
        );
  context.out.table(found, [
    { title: 'action', whole: true, value: ({ id }) => id },
    { title: 'routine', value: ({ routineName }) => routineName },
    { title: 'tool', value: ({ toolName, connectionName }) => `${toolName} (${connectionName})` },
    { title: 'arguments', value: ({ arguments: given }) => given && JSON.stringify(given) },
    { title: 'state', value: ({ state: now, reason }) => [now, reason].filter(Boolean).join(', ') },
    { title: 'expires', value: ({ expiresAt, decidedAt }) => (decidedAt === null ? when(expiresAt) : null) },
  ]);
}

interface ApproveOptions {
  readonly digest?: readonly string[];
  readonly arguments?: string;
}

async function approve(context: Context, ids: readonly string[], options: ApproveOptions): Promise<void> {
  const { digest: digests = [], arguments: given } = options;
  if (given !== undefined && ids.length > 1) throw usageError('--arguments is for one call only.');
  if (digests.length > 0 && digests.length !== ids.length) {
    throw usageError('Give one --digest for each action, in the same order.');
  }
  const body = given === undefined ? {} : { arguments: await parsed(given) };
  const { actions: held } = await context.client();
  const seen =
    digests.length === 0 ? await shown(context, ids, held) : ids.map((id, at) => ({ id, digest: digests[at] ?? '' }));
  const [first, ...others] = seen;
  if (first === undefined || others.length > 0) return verdicts(context, await held.approveAll({ actions: seen }));
  return show(context, await held.approve(first.id, first, body));
}

/** Shows the calls, asks for confirmation, and returns the calls with their digests. */
async function shown(context: Context, ids: readonly string[], held: Ras['actions']) {
  if (!context.canAsk) throw usageError('There is no terminal to ask: give --digest, from ras actions show.');
  const read = await Promise.all(ids.map((id) => held.read(id)));
  for (const each of read) show(context, each);
  const tools = read.map(({ toolName, connectionName }) => `${toolName} of ${connectionName}`);
  await confirmed(context, `Call ${tools.join(', ')} now?`);
  return read.map(({ id, digest }) => ({ id, digest }));
}

/** Shows the decision about each call. If a decision was refused, the exit code is that of a failure. */
function verdicts(context: Context, all: readonly Shape<'ActionVerdict'>[]): void {
  context.out.table(all, [
    { title: 'action', whole: true, value: ({ id }) => id },
    { title: 'tool', value: ({ action }) => action?.toolName },
    { title: 'state', value: ({ action }) => action?.state },
    { title: 'error', value: ({ error }) => error?.message },
  ]);
  if (all.some(({ error }) => error !== null)) context.exitCode = EXIT.failed;
}

async function parsed(json: string): Promise<Record<string, unknown>> {
  const { parseExact } = await import('routine-automation-sdk');
  try {
    const value: unknown = parseExact(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Invalid JSON gets the same error as JSON that is no object.
  }
  throw usageError('--arguments takes a JSON object.');
}

function show(context: Context, action: Shape<'Action'>): void {
  const { connectionName, account, toolName, decidedBy } = action;
  context.out.record(action, {
    Action: action.id,
    Routine: `${action.routineName} (${action.routineId})`,
    Run: action.runId,
    Tool: toolName,
    Connection: account === null ? connectionName : `${connectionName} (${account})`,
    Arguments: action.argumentsText,
    'The model wrote': action.modelReason,
    State: [action.state, action.reason].filter(Boolean).join(', '),
    Digest: action.digest,
    Expires: when(action.expiresAt),
    Decided: when(action.decidedAt),
    By: decidedBy?.name ?? decidedBy?.id,
    Note: action.note,
    Result: action.result,
    Error: action.errorMessage,
  });
}

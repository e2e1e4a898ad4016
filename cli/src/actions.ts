import { Option, type Command } from 'commander';
import type { Shape } from 'routine-automation-sdk';
import { confirmed } from './ask.ts';
import type { Context } from './context.ts';
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
    .description('Show a held call, ask, and have it sent as it was shown.')
    .argument('<action>', ACTION)
    .option('--digest <digest>', 'of the call that you have seen; nothing is asked then')
    .option('--arguments <json>', 'send these arguments instead')
    .action((id: string, options: ApproveOptions) => approve(context, id, options));
  actions
    .command('reject')
    .description('Have a held call never sent.')
    .argument('<action>', ACTION)
    .option('--reason <text>', 'why, which later runs of the routine are told')
    .action(async (id: string, { reason = null }: { reason?: string | null }) =>
      show(context, await (await context.client()).actions.reject(id, { reason })),
    );
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
  readonly digest?: string;
  readonly arguments?: string;
}

async function approve(context: Context, id: string, options: ApproveOptions): Promise<void> {
  const body = options.arguments === undefined ? {} : { arguments: parsed(options.arguments) };
  const ras = await context.client();
  let { digest } = options;
  if (digest === undefined) {
    const seen = await ras.actions.read(id);
    if (!context.canAsk) throw usageError('There is no terminal to ask: give --digest, from ras actions show.');
    show(context, seen);
    await confirmed(context, `Call ${seen.toolName} of ${seen.connectionName} now?`);
    ({ digest } = seen);
  }
  show(context, await ras.actions.approve(id, { digest }, body));
}

function parsed(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
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

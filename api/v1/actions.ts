import { z } from 'zod';
import * as actions from '#core/execution/actions/index.ts';
import { ERRORS } from '#lib/errors.ts';
import { timestamp } from '#lib/schemas.ts';
import { withUnseenEscaped } from '#lib/text.ts';
import { programOf, type ProjectAccess } from '../access.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { anyId, EXAMPLE, idOf, pageOf, pageQuery, wordOf } from '../http/schemas.ts';
import { route, type Route } from '../route.ts';
import { author } from './routines/version-schemas.ts';

const tag = 'Actions';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const states = Object.keys(actions.ACTION_STATES) as [actions.ActionState, ...actions.ActionState[]];
const inWords = (list: Readonly<Record<string, string>>) =>
  Object.entries(list)
    .map(([word, meaning]) => `\`${word}\`: ${meaning}.`)
    .join(' ');

const args = z.record(z.string(), z.unknown());
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits')
  .meta({
    description:
      'SHA-256 of what is approved: the canonical JSON (RFC 8785) of tool, definition, connection with its account, and arguments. An approval sends it as `If-Match`.',
  });

const fields = {
  id: idOf('action', EXAMPLE.action),
  routineId: idOf('routine', EXAMPLE.routine),
  routineName: z.string(),
  runId: idOf('run', EXAMPLE.run).meta({ description: 'The run that asked first.' }),
  lastRunId: idOf('run', EXAMPLE.run).meta({ description: 'The last run that asked for the same while it was open.' }),
  times: z.number().int().meta({ description: 'How often the same was asked for.' }),
  state: z.enum(states).meta({ description: inWords(actions.ACTION_STATES) }),
  reason: wordOf(actions.ACTION_REASONS)
    .nullable()
    .meta({
      id: 'ActionReason',
      description: `Why it ended so, where no person decided it. The list may grow. ${inWords(actions.ACTION_REASONS)}`,
      example: 'expired',
    }),
  note: z.string().nullable().meta({ description: 'What the person wrote who rejected it.' }),
  policyId: anyId,
  connectionId: anyId,
  connectionName: z.string(),
  account: z.string().nullable().meta({ description: 'Account of the connection at its provider, where it is known.' }),
  toolName: z.string().meta({ description: 'As its server calls it.' }),
  definitionHash: z.string(),
  arguments: args.nullable().meta({
    description:
      'What the tool would be called with; null once it is erased. `{{act_….result./id}}` stands for a value of the result of another action.',
    example: { title: 'Broken link on /pricing' },
  }),
  argumentsText: z.string().nullable().meta({
    description:
      'The same as JSON text, digit for digit, for people: characters that no reader sees are written as escapes.',
  }),
  digest,
  refersTo: z.array(anyId).meta({ description: 'Actions whose results its arguments contain; they are made first.' }),
  modelReason: z.string().nullable().meta({ description: 'What the model wrote beside the call.' }),
  replaces: anyId.nullable().meta({ description: 'The action whose arguments a person changed into these.' }),
  replacedBy: anyId.nullable(),
  decidedBy: author.nullable(),
  decidedAt: timestamp.nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.meta({ description: 'It is rejected, `expired`, if no one decides before.' }),
  sentAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  isError: z.boolean().nullable(),
  result: z.string().nullable().meta({
    description: "Text of the tool's response, without secrets, cut at 16,000 characters.",
  }),
  resultLength: z.number().int().nullable(),
  errorMessage: z.string().nullable(),
};
const action = z.strictObject(fields).meta({ id: 'Action' });

const difference = z
  .strictObject({
    path: z.string().meta({ description: 'JSON Pointer (RFC 6901).', example: '/title' }),
    before: z.unknown().meta({ description: 'Missing where it is new.' }),
    after: z.unknown().meta({ description: 'Missing where it is gone.' }),
  })
  .partial({ before: true, after: true })
  .meta({ id: 'ActionDifference' });

const actionDetail = z
  .strictObject({
    ...fields,
    inputSchema: args
      .nullable()
      .meta({ description: "The tool's schema of the arguments; null once the tool is gone." }),
    lastApproved: z
      .strictObject({ id: anyId, arguments: args, decidedAt: timestamp })
      .nullable()
      .meta({ description: 'The call of this tool by the routine that was approved last.' }),
    changes: z.array(difference).meta({
      description: 'What a person changed in the arguments, for an action that replaces another one.',
    }),
  })
  .meta({ id: 'ActionDetail' });

function presentAction(row: actions.Action) {
  return present(action, { ...row, argumentsText: argumentsText(row) });
}

function presentDetail(row: actions.ActionDetail) {
  return present(actionDetail, { ...row, argumentsText: argumentsText(row) });
}

function argumentsText({ arguments: given }: actions.Action): string | null {
  return given && withUnseenEscaped(JSON.stringify(given, null, 2));
}

function tagOf({ digest: seen }: actions.Action): { ETag: string } {
  return { ETag: `"${seen}"` };
}

const headers = { ETag: 'The digest of the action, for `If-Match`.' };
const params = z.strictObject({ actionId: idOf('action', EXAMPLE.action) });

const listActions = route({
  method: 'GET',
  path: '/v1/actions',
  id: 'listActions',
  tag,
  summary: 'List the held calls of the project',
  description: 'Calls of tools whose policy has the state `hold`. A run records them and goes on; a person decides.',
  auth: 'key-or-session',
  mcp: {
    toolset: 'actions',
    view: [
      'id',
      'routineId',
      'runId',
      'state',
      'reason',
      'connectionName',
      'toolName',
      'arguments',
      'digest',
      'expiresAt',
    ],
  },
  scope: 'runs:read',
  query: pageQuery('action', {
    state: z.enum(states).optional(),
    routineId: idOf('routine', EXAMPLE.routine).optional(),
    runId: idOf('run', EXAMPLE.run).optional(),
  }),
  success: { status: 200, data: z.array(action), description: 'Newest first.' },
}).to(async ({ access: { projectId }, query: { state, routineId, runId, ...rest }, deps }) => {
  const page = pageOf(rest);
  const found = await actions.listActions(deps.database, projectId, { state, routineId, runId }, page);
  return listReply(found, page, presentAction);
});

const readAction = route({
  method: 'GET',
  path: '/v1/actions/:actionId',
  id: 'readAction',
  tag,
  summary: 'Read a held call',
  auth: 'key-or-session',
  mcp: { toolset: 'actions' },
  scope: 'runs:read',
  params,
  conditional: true,
  success: { status: 200, data: actionDetail, description: 'The action.', headers },
}).to(async ({ access: { projectId }, params: { actionId }, deps }) => {
  const found = await actions.readActionDetail(deps.database, projectId, actionId);
  return { data: presentDetail(found), headers: tagOf(found) };
});

/** Errors of one decision. */
const decisionErrors = ['own_action', 'action_closed', 'action_differs', 'action_not_allowed', 'action_waits'] as const;

const approveAction = route({
  method: 'POST',
  path: '/v1/actions/:actionId/approve',
  id: 'approveAction',
  tag,
  summary: 'Approve a held call',
  description:
    'Sends the call, once. `If-Match` has to be the digest of the action that was seen, else the response is 409 `action_differs`. Other `arguments` are checked as those of a run are and become an action of their own, which is approved; this one ends as `replaced`. Policy, definition, account, schemas and the limit of calls are checked again. The same approval gives the same response again. The API key or assistant that started the run may not decide.',
  auth: 'key-or-session',
  mcp: { toolset: 'actions', destructive: true },
  scope: 'actions:write',
  params,
  body: z
    .strictObject({ arguments: args.optional().meta({ description: 'What the tool is to be called with instead.' }) })
    .meta({ id: 'ApproveAction' }),
  bodyOptional: true,
  conditional: true,
  success: { status: 200, data: action, description: 'The approved action.', headers },
  errors: decisionErrors,
}).to(async ({ access, by, params: { actionId: id }, body, deps, ifMatch }) => {
  const decided = await actions.approveAction(deps, {
    ...deciderOf(access),
    id,
    by,
    digests: digestsIn(ifMatch),
    arguments: body.arguments,
  });
  return { data: presentAction(decided), headers: tagOf(decided) };
});

const note = z
  .string()
  .max(2_000)
  .nullable()
  .default(null)
  .meta({ description: 'Why, for later runs of the routine (`{{actions}}`).', example: 'The page is back.' });

const rejectAction = route({
  method: 'POST',
  path: '/v1/actions/:actionId/reject',
  id: 'rejectAction',
  tag,
  summary: 'Reject a held call',
  description: 'The call is never sent. Actions that refer to it end with it.',
  auth: 'key-or-session',
  mcp: { toolset: 'actions' },
  scope: 'actions:write',
  params,
  body: z.strictObject({ reason: note }).meta({ id: 'RejectAction' }),
  bodyOptional: true,
  success: { status: 200, data: action, description: 'The rejected action.' },
  errors: ['own_action', 'action_closed'],
}).to(async ({ access, by, params: { actionId: id }, body, deps }) => ({
  data: presentAction(await actions.rejectAction(deps, { ...deciderOf(access), id, by, note: body.reason })),
}));

const verdict = z
  .strictObject({
    id: anyId,
    action: action.nullable().meta({ description: 'Null where it was refused.' }),
    error: z
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
      .strictObject({ code: wordOf(ERRORS), message: z.string() })
      .nullable()
      .meta({ description: 'Why it was refused; null where it was decided.' }),
  })
  .meta({ id: 'ActionVerdict' });

const MOST_AT_ONCE = 50;

function several<T extends z.ZodType<{ id: string }>>(item: T) {
  return z
    .array(item)
    .min(1)
    .max(MOST_AT_ONCE)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'the same action twice');
}

const approveActions = route({
  method: 'POST',
  path: '/v1/actions/approve',
  id: 'approveActions',
  tag,
  summary: 'Approve several held calls',
  description:
    'Each with its own verdict, in the order in which the runs asked for them, so that an action comes after those that it refers to.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'actions:write',
  body: z
    .strictObject({ actions: several(z.strictObject({ id: idOf('action', EXAMPLE.action), digest })) })
    .meta({ id: 'ApproveActions' }),
  success: { status: 200, data: z.array(verdict), description: 'A verdict for each, in the order of the request.' },
}).to(async ({ access, by, body, deps }) => ({
  data: await verdictsOf(body.actions, ({ id, digest: seen }) =>
    actions.approveAction(deps, { ...deciderOf(access), id, by, digests: [seen], arguments: undefined }),
  ),
}));

const rejectActions = route({
  method: 'POST',
  path: '/v1/actions/reject',
  id: 'rejectActions',
  tag,
  summary: 'Reject several held calls',
  auth: 'key-or-session',
  mcp: false,
  scope: 'actions:write',
  body: z
    .strictObject({ actions: several(z.strictObject({ id: idOf('action', EXAMPLE.action) })), reason: note })
    .meta({ id: 'RejectActions' }),
  success: { status: 200, data: z.array(verdict), description: 'A verdict for each, in the order of the request.' },
}).to(async ({ access, by, body, deps }) => ({
  data: await verdictsOf(body.actions, ({ id }) =>
    actions.rejectAction(deps, { ...deciderOf(access), id, by, note: body.reason }),
  ),
}));

async function verdictsOf<T extends { readonly id: string }>(
  wanted: readonly T[],
  decide: (each: T) => Promise<actions.Action>,
) {
  const verdicts = await actions.decideEach(wanted, decide);
  return verdicts.map(({ id, action: decided, error }) => ({
    id,
    action: decided === undefined ? null : presentAction(decided),
    error: error === undefined ? null : { code: error.code, message: error.message },
  }));
}

/** Who decides: the tenant, and the credential of a program, which may have started the run. */
function deciderOf(access: ProjectAccess) {
  const { projectId, organizationId } = access;
  return { projectId, organizationId, credential: programOf(access) };
}

function digestsIn(ifMatch: string | undefined): string[] {
  return ifMatch === undefined
    ? []
    : Array.from(ifMatch.matchAll(/(?<!W\/)"?([0-9a-f]{64})"?/g), ([, seen = '']) => seen);
}

export const actionRoutes: readonly Route[] = [
  listActions,
  approveActions,
  rejectActions,
  readAction,
  approveAction,
  rejectAction,
];

import { z } from 'zod';
import * as actions from '#core/execution/actions/index.ts';
import { programOf, type ProjectAccess } from '../../access.ts';
import { listReply } from '../../http/links.ts';
import { component, idOf, pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { action, actionDetail, args, digest, presentAction, presentDetail, states, tagOf, verdict } from './schemas.ts';

const route = routesOf('Actions');

const headers = { ETag: 'The digest of the action, for `If-Match`.' };
const params = z.strictObject({ actionId: idOf('action') });

const listActions = route('GET /v1/actions', {
  id: 'listActions',
  summary: 'List the held calls of the project',
  description: 'Calls of tools whose policy has the state `hold`. A run records them and goes on; a person decides.',
  mcp: {
    toolset: 'actions',
    view: [
      'id',
      'routineId',
      'runId',
      'state',
      'reason',
      'connectionName',
      'account',
      'toolName',
      'argumentsText',
      'digest',
      'expiresAt',
    ],
  },
  scope: 'runs:read',
  query: pageQuery('action', {
    state: states.optional().describe('Actions in this state only.'),
    routineId: idOf('routine').optional().describe('Actions of this routine only.'),
    runId: idOf('run').optional().describe('Actions that this run asked for, first or last.'),
  }),
  success: { data: z.array(action), description: 'Newest first.' },
}).to(async ({ access: { projectId }, query: { state, routineId, runId, ...rest }, deps }) => {
  const page = pageOf(rest);
  const found = await actions.listActions(deps.database, projectId, { state, routineId, runId }, page);
  return listReply(found, page, presentAction);
});

const readAction = route('GET /v1/actions/:actionId', {
  id: 'readAction',
  summary: 'Read a held call',
  // Leave `arguments` out: a fence loses invisible characters, which the text of the arguments has as escapes.
  mcp: { toolset: 'actions', view: Object.keys(actionDetail.shape).filter((name) => name !== 'arguments') },
  scope: 'runs:read',
  params,
  conditional: true,
  success: { data: actionDetail, description: 'The action.', headers },
}).to(async ({ access: { projectId }, params: { actionId }, deps }) => {
  const found = await actions.readActionDetail(deps.database, projectId, actionId);
  return { data: presentDetail(found), headers: tagOf(found) };
});

const decisionErrors = ['own_action', 'action_closed', 'action_differs', 'action_not_allowed', 'action_waits'] as const;

const approveAction = route('POST /v1/actions/:actionId/approve', {
  id: 'approveAction',
  summary: 'Approve a held call',
  description:
    'Sends the call, once. `If-Match` has to be the digest of the action that was seen, else the response is 409 `action_differs`. If the request has other `arguments`, they are checked like those of a run. They become an action of their own, which is approved, and this action ends as `replaced`. Policy, definition, account, schemas and the limit of calls are checked again. The same approval gives the same response again. The API key or assistant that started the run may not decide.',
  mcp: { toolset: 'actions', destructive: true },
  scope: 'actions:write',
  params,
  body: component('ApproveAction', { arguments: args.optional().describe('Arguments to send instead.') }),
  bodyOptional: true,
  conditional: true,
  success: { data: action, description: 'The approved action.', headers },
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

const note = z.string().max(2_000).nullable().default(null).meta({
  description: 'The reason, which later runs of the routine get (`{{actions}}`).',
  example: 'The page is back.',
});

const rejectAction = route('POST /v1/actions/:actionId/reject', {
  id: 'rejectAction',
  summary: 'Reject a held call',
  description: 'The call is never sent. Actions that refer to the call are closed too.',
  mcp: { toolset: 'actions' },
  scope: 'actions:write',
  params,
  body: component('RejectAction', { reason: note }),
  bodyOptional: true,
  success: { data: action, description: 'The rejected action.' },
  errors: ['own_action', 'action_closed'],
}).to(async ({ access, by, params: { actionId: id }, body, deps }) => ({
  data: presentAction(await actions.rejectAction(deps, { ...deciderOf(access), id, by, note: body.reason })),
}));

const MOST_AT_ONCE = 50;
/** Fields of a verdict for assistants. With whole actions fifty verdicts would not fit into an answer. */
const VERDICT = ['id', 'action.state', 'error'];

function several<T extends z.ZodType<{ id: string }>>(item: T) {
  return z
    .array(item)
    .min(1)
    .max(MOST_AT_ONCE)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'the same action twice');
}

const approveActions = route('POST /v1/actions/approve', {
  id: 'approveActions',
  summary: 'Approve several held calls',
  description:
    'Each action gets its own verdict. Actions are decided in the order in which runs asked for them, so that an action comes after the actions that it refers to.',
  mcp: { toolset: 'actions', destructive: true, view: VERDICT },
  scope: 'actions:write',
  body: component('ApproveActions', {
    actions: several(z.strictObject({ id: idOf('action'), digest })),
  }),
  success: { data: z.array(verdict), description: 'A verdict for each action, in the order of the request.' },
}).to(async ({ access, by, body, deps }) => ({
  data: await verdictsOf(body.actions, ({ id, digest: seen }) =>
    actions.approveAction(deps, { ...deciderOf(access), id, by, digests: [seen], arguments: undefined }),
  ),
}));

const rejectActions = route('POST /v1/actions/reject', {
  id: 'rejectActions',
  summary: 'Reject several held calls',
  mcp: { toolset: 'actions', view: VERDICT },
  scope: 'actions:write',
  body: component('RejectActions', {
    actions: several(z.strictObject({ id: idOf('action') })),
    reason: note,
  }),
  success: { data: z.array(verdict), description: 'A verdict for each action, in the order of the request.' },
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

/**
 * Returns the project and organization of the decision, and a program's credential (null for a person): a program may
 * not decide about calls of runs that it caused.
 */
function deciderOf(access: ProjectAccess) {
  const { projectId, organizationId } = access;
  return { projectId, organizationId, credential: programOf(access) };
}

/**
 * Returns the digests that `If-Match` lists, with or without quotation marks. A weak tag names none (RFC 9110, 13.1.1).
 */
function digestsIn(ifMatch = ''): string[] {
  return ifMatch.split(',').flatMap((tag) => /^("?)([0-9a-f]{64})\1$/.exec(tag.trim())?.[2] ?? []);
}

export const actionRoutes: readonly Route[] = [
  listActions,
  approveActions,
  rejectActions,
  readAction,
  approveAction,
  rejectAction,
];

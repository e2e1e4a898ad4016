import { z } from 'zod';
import * as actions from '#core/execution/actions/index.ts';
import { ERRORS } from '#lib/errors.ts';
import { keyOf, timestamp } from '#lib/schemas.ts';
import { withUnseenEscaped } from '#lib/text.ts';
import { present } from '../../http/present.ts';
import { anyId, component, idOf, sentencesOf, sha256, wordOf } from '../../http/schemas.ts';
import { author } from '../routines/version-schemas.ts';

export const states = keyOf(actions.ACTION_STATES);

export const args = z.record(z.string(), z.unknown());
export const digest = sha256.describe(
  'SHA-256 of the approved contents: the canonical JSON (RFC 8785) of tool, definition, connection with its account, and arguments. An approval sends it as `If-Match`.',
);

const fields = {
  id: idOf('action'),
  routineId: idOf('routine'),
  routineName: z.string(),
  runId: idOf('run').describe('The run that asked for the call first.'),
  lastRunId: idOf('run').describe('The last run that asked for the open call.'),
  times: z.number().int().describe('How often runs have asked for the call.'),
  state: states.describe(sentencesOf(actions.ACTION_STATES)),
  reason: wordOf(actions.ACTION_REASONS)
    .nullable()
    .meta({
      id: 'ActionReason',
      description: `Reason of an end that no person decided. The list may grow. ${sentencesOf(actions.ACTION_REASONS)}`,
      example: 'expired',
    }),
  note: z.string().nullable().describe('Note of the person who rejected the action.'),
  policyId: anyId,
  connectionId: anyId,
  connectionName: z.string(),
  account: z.string().nullable().describe('Account of the connection at its provider, where it is known.'),
  toolName: z.string().describe('Name of the tool at its server.'),
  definitionHash: z.string(),
  arguments: args.nullable().meta({
    description:
      'Arguments of the call; null once they are erased. `{{act_….result./id}}` stands for a value of the result of another action.',
    example: { title: 'Broken link on /pricing' },
  }),
  argumentsText: z
    .string()
    .nullable()
    .describe('The arguments as JSON text for people, with all digits; invisible characters are written as escapes.'),
  digest,
  refersTo: z.array(anyId).describe('Actions whose results the arguments use, and which are therefore sent first.'),
  modelReason: z.string().nullable().describe('Text that the model wrote beside the call.'),
  replaces: anyId.nullable().describe('The action whose arguments a person changed into these.'),
  replacedBy: anyId.nullable(),
  decidedBy: author.nullable(),
  decidedAt: timestamp.nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.describe('An action without a decision by then is rejected as `expired`.'),
  sentAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  isError: z.boolean().nullable(),
  result: z.string().nullable().describe("Text of the tool's response, without secrets, cut at 16,000 characters."),
  resultLength: z.number().int().nullable(),
  errorMessage: z.string().nullable(),
};
export const action = component('Action', fields);

const difference = z
  .strictObject({
    path: z.string().meta({ description: 'JSON Pointer (RFC 6901) to the changed argument.', example: '/title' }),
    before: z.unknown().describe('The earlier value; missing if the argument was added.'),
    after: z.unknown().describe('The later value; missing if the argument was removed.'),
  })
  .partial({ before: true, after: true })
  .meta({ id: 'ActionDifference' });

export const actionDetail = component('ActionDetail', {
  ...fields,
  inputSchema: args.nullable().describe("The tool's schema of the arguments; null once the tool is gone."),
  lastApproved: z
    .strictObject({ id: anyId, arguments: args, decidedAt: timestamp })
    .nullable()
    .describe('The latest approved call of this tool by the routine.'),
  changes: z
    .array(difference)
    .describe('Changes by a person in the arguments, for an action that replaces another one.'),
});

export function presentAction(row: actions.Action) {
  return present(action, { ...row, argumentsText: argumentsText(row) });
}

export function presentDetail(row: actions.ActionDetail) {
  return present(actionDetail, { ...row, argumentsText: argumentsText(row) });
}

function argumentsText({ arguments: given }: actions.Action): string | null {
  return given && withUnseenEscaped(JSON.stringify(given, null, 2));
}

export function tagOf({ digest: seen }: actions.Action): { ETag: string } {
  return { ETag: `"${seen}"` };
}

export const verdict = component('ActionVerdict', {
  id: anyId,
  action: action.nullable().describe('The decided action; null if the decision was refused.'),
  error: z
    .strictObject({ code: wordOf(ERRORS), message: z.string() })
    .nullable()
    .describe('Why the decision was refused; null if the action was decided.'),
});

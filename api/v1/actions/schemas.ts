import { z } from 'zod';
import * as actions from '#core/execution/actions/index.ts';
import { ERRORS } from '#lib/errors.ts';
import { timestamp } from '#lib/schemas.ts';
import { withUnseenEscaped } from '#lib/text.ts';
import { present } from '../../http/present.ts';
import { anyId, EXAMPLE, idOf, sha256, wordOf } from '../../http/schemas.ts';
import { author } from '../routines/version-schemas.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
export const states = Object.keys(actions.ACTION_STATES) as [actions.ActionState, ...actions.ActionState[]];

export const args = z.record(z.string(), z.unknown());
export const digest = sha256.meta({
  description:
    'SHA-256 of the approved contents: the canonical JSON (RFC 8785) of tool, definition, connection with its account, and arguments. An approval sends it as `If-Match`.',
});

const fields = {
  id: idOf('action', EXAMPLE.action),
  routineId: idOf('routine', EXAMPLE.routine),
  routineName: z.string(),
  runId: idOf('run', EXAMPLE.run).meta({ description: 'The run that asked for the call first.' }),
  lastRunId: idOf('run', EXAMPLE.run).meta({ description: 'The last run that asked for the open call.' }),
  times: z.number().int().meta({ description: 'How often runs have asked for the call.' }),
  state: z.enum(states).meta({ description: inWords(actions.ACTION_STATES) }),
  reason: wordOf(actions.ACTION_REASONS)
    .nullable()
    .meta({
      id: 'ActionReason',
      description: `Reason of an end that no person decided. The list may grow. ${inWords(actions.ACTION_REASONS)}`,
      example: 'expired',
    }),
  note: z.string().nullable().meta({ description: 'Note of the person who rejected it.' }),
  policyId: anyId,
  connectionId: anyId,
  connectionName: z.string(),
  account: z.string().nullable().meta({ description: 'Account of the connection at its provider, where it is known.' }),
  toolName: z.string().meta({ description: 'Name of the tool at its server.' }),
  definitionHash: z.string(),
  arguments: args.nullable().meta({
    description:
      'Arguments of the call; null once they are erased. `{{act_….result./id}}` stands for a value of the result of another action.',
    example: { title: 'Broken link on /pricing' },
  }),
  argumentsText: z.string().nullable().meta({
    description: 'The arguments as JSON text for people, with all digits; invisible characters are written as escapes.',
  }),
  digest,
  refersTo: z.array(anyId).meta({ description: 'Actions that are sent first, as the arguments use their results.' }),
  modelReason: z.string().nullable().meta({ description: 'Text that the model wrote beside the call.' }),
  replaces: anyId.nullable().meta({ description: 'The action whose arguments a person changed into these.' }),
  replacedBy: anyId.nullable(),
  decidedBy: author.nullable(),
  decidedAt: timestamp.nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.meta({ description: 'An action without a decision by then is rejected as `expired`.' }),
  sentAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
  isError: z.boolean().nullable(),
  result: z.string().nullable().meta({
    description: "Text of the tool's response, without secrets, cut at 16,000 characters.",
  }),
  resultLength: z.number().int().nullable(),
  errorMessage: z.string().nullable(),
};
export const action = z.strictObject(fields).meta({ id: 'Action' });

const difference = z
  .strictObject({
    path: z.string().meta({ description: 'JSON Pointer (RFC 6901) to the changed argument.', example: '/title' }),
    before: z.unknown().meta({ description: 'The earlier value; missing if the argument was added.' }),
    after: z.unknown().meta({ description: 'The later value; missing if the argument was removed.' }),
  })
  .partial({ before: true, after: true })
  .meta({ id: 'ActionDifference' });

export const actionDetail = z
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
      description: 'Changes by a person in the arguments, for an action that replaces another one.',
    }),
  })
  .meta({ id: 'ActionDetail' });

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

function inWords(list: Readonly<Record<string, string>>): string {
  const words = Object.entries(list).map(([word, meaning]) => `\`${word}\`: ${meaning}.`);
  return words.join(' ');
}

export const verdict = z
  .strictObject({
    id: anyId,
    action: action.nullable().meta({ description: 'The decided action; null if the decision was refused.' }),
    error: z
      .strictObject({ code: wordOf(ERRORS), message: z.string() })
      .nullable()
      .meta({ description: 'Why the decision was refused; null if the action was decided.' }),
  })
  .meta({ id: 'ActionVerdict' });

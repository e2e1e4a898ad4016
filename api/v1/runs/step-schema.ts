import { z } from 'zod';
import { MEANINGS_OF_STEP_STATES, STEP_KINDS, STEP_STATES, STEP_WARNINGS } from '#core/execution/run-states/index.ts';
import type { RunDetail } from '#core/execution/runs/index.ts';
import { rehearsing } from '#core/integrations/tools/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { anyId, component, sentencesOf, wordOf } from '../../http/schemas.ts';
import { usage, withTotal } from './result-schema.ts';

const nullableText = z.string().nullable();
const nullableLength = z.number().int().nullable();

const toolCall = component('ToolCall', {
  name: z.string().describe('Name that the model uses.'),
  toolName: nullableText.describe('Name of the tool at its server; null if the run has no such tool.'),
  connectionId: anyId.nullable().describe('Id of the connection; null for a built-in tool.'),
  connectionName: nullableText.meta({
    description:
      'Name of the connection at the time of the call; null for a built-in tool, and once the texts of the run are erased.',
    example: 'Issue tracker',
  }),
  policyId: anyId.nullable().describe('Id of the policy; null for a built-in tool.'),
  arguments: nullableText.meta({
    description: 'JSON text. In texts of a step, secrets are removed and long texts cut at 16,000 characters.',
    example: '{"message":"hello"}',
  }),
  argumentsLength: nullableLength.describe('Characters of the arguments before they were cut.'),
  isError: z.boolean().nullable(),
  result: nullableText.describe("The text of the tool's response."),
  resultLength: nullableLength,
  structured: nullableText.describe('The structured content, as JSON text.'),
  structuredLength: nullableLength,
  attachments: z
    .array(
      z.strictObject({
        kind: z.enum(['image', 'audio', 'resource', 'link']),
        mimeType: nullableText,
        bytes: nullableLength,
        sha256: nullableText,
        uri: nullableText,
      }),
    )
    .describe('Contents of the response other than text; only their descriptions are kept.'),
  omittedFromStep: z
    .number()
    .int()
    .nullable()
    .describe(
      'The model step from which the result was left out of the requests, because the context window had no room; null while it is sent.',
    ),
  action: z
    .strictObject({ id: anyId, name: z.string().meta({ example: 'action_1' }) })
    .nullable()
    .describe('For a held call: the action that waits for a person. The call was not made.'),
  rule: z
    .strictObject({ id: anyId, words: z.string() })
    .nullable()
    .describe('The standing rule that let a call of a held tool through.'),
  rehearsed: z
    .enum(rehearsing.STAND_INS)
    .nullable()
    .describe(
      'For a call that a rehearsal did not make: the stand-in that answered it. `schema`: a made-up value of its output schema, `earlier_answer`: the last real answer of the tool, `nothing`: no answer. Null for a call that was made.',
    ),
});

export const step = component('Step', {
  index: z.number().int(),
  kind: z.enum(STEP_KINDS),
  state: z.enum(STEP_STATES).describe(sentencesOf(MEANINGS_OF_STEP_STATES)),
  attempt: z
    .number()
    .int()
    .describe('If above 1, the provider may have billed an earlier attempt whose response was lost.'),
  modelId: z.string().nullable(),
  text: z.string().nullable(),
  thinking: nullableText.describe('Thinking that the model wrote into its text, taken out of it.'),
  finishReason: z.string().nullable().meta({
    description:
      "Why the response ended, in the model server's own word, such as `stop`, `tool_calls` or `MAX_TOKENS`; `none` where it gave none. For a failed step, the word of its last response.",
    example: 'stop',
  }),
  errorMessage: z.string().nullable(),
  tool: toolCall.nullable().describe('The call of a tool step.'),
  warnings: z
    .array(z.strictObject({ code: wordOf(STEP_WARNINGS), message: z.string() }))
    .describe(
      'Problems that did not end the run: faults of the model server, and `outcome_unknown` for a call that may have taken effect. The list may grow.',
    ),
  usage,
  startedAt: timestamp.nullable(),
  finishedAt: timestamp.nullable(),
});

export function presentStep(row: Step) {
  return present(step, shownStep(row));
}

/** Returns a step for a response; some fields have another form than in the row. */
export function shownStep(row: Step) {
  const warnings = row.state === 'outcome_unknown' ? [...row.warnings, row.state] : row.warnings;
  return {
    ...row,
    tool: row.tool && presentedTool(row.tool),
    warnings: warnings.map((code) => ({ code, message: STEP_WARNINGS[code] })),
    usage: withTotal(row.usage),
  };
}

type Step = RunDetail['steps'][number];

function presentedTool({ omittedFromStep, action, rule, rehearsed, ...call }: NonNullable<Step['tool']>) {
  return {
    ...call,
    omittedFromStep: omittedFromStep ?? null,
    action: action ?? null,
    rule: rule ?? null,
    rehearsed: rehearsed ?? null,
  };
}

import { z } from 'zod';
import { MEANINGS_OF_STEP_STATES, STEP_KINDS, STEP_STATES, STEP_WARNINGS } from '#core/execution/run-states/index.ts';
import type { RunDetail } from '#core/execution/runs/index.ts';
import type { ToolRecord } from '#core/integrations/tools/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { anyId, isoOrNull, wordOf } from '../../http/schemas.ts';
import { presentUsage, usage } from './result-schema.ts';

const nullableText = z.string().nullable();
const nullableLength = z.number().int().nullable();

const toolCall = z
  .strictObject({
    name: z.string().meta({ description: 'As the model calls the tool.' }),
    toolName: nullableText.meta({
      description: 'As its server calls it; null if the run has no such tool.',
    }),
    connectionId: anyId.nullable().meta({ description: 'Null for a built-in tool.' }),
    connectionName: nullableText.meta({
      description:
        'Name of the connection when the call was made, which stays when it is renamed or deleted; null for a built-in tool, and once the texts of the run are erased.',
      example: 'Issue tracker',
    }),
    policyId: anyId.nullable().meta({ description: 'Null for a built-in tool.' }),
    arguments: nullableText.meta({
      description: 'JSON text. Here and below secrets are taken out and long texts cut at 16,000 characters.',
      example: '{"message":"hello"}',
    }),
    argumentsLength: nullableLength.meta({ description: 'Characters before the cut.' }),
    isError: z.boolean().nullable(),
    result: nullableText.meta({ description: "The text of the tool's response." }),
    resultLength: nullableLength,
    structured: nullableText.meta({ description: 'The structured content, as JSON text.' }),
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
      .meta({ description: 'What the response held besides text; only its description is kept.' }),
    omittedFromStep: z.number().int().nullable().meta({
      description:
        'The model step from which on the result was left out of what the model is sent, because its context window had no room for it; null while it is sent.',
    }),
    action: z
      .strictObject({ id: anyId, name: z.string().meta({ example: 'action_1' }) })
      .nullable()
      .meta({ description: 'Of a call that was held: the action that waits for a person. The call was not made.' }),
    rule: z
      .strictObject({ id: anyId, words: z.string() })
      .nullable()
      .meta({ description: 'The standing rule that let a call of a held tool through.' }),
  })
  .meta({ id: 'ToolCall' });

export const step = z
  .strictObject({
    index: z.number().int(),
    kind: z.enum(STEP_KINDS),
    state: z.enum(STEP_STATES).meta({
      description: Object.entries(MEANINGS_OF_STEP_STATES)
        .map(([state, meaning]) => `\`${state}\`: ${meaning}.`)
        .join(' '),
    }),
    attempt: z.number().int().meta({
      description: 'Beyond 1, an earlier attempt may have been billed by the provider and lost.',
    }),
    modelId: z.string().nullable(),
    text: z.string().nullable(),
    thinking: nullableText.meta({ description: 'Thinking that the model wrote into its text, taken out of it.' }),
    finishReason: z.string().nullable().meta({
      description:
        "In the model server's own word, such as `stop`, `tool_calls` or `MAX_TOKENS`; `none` where it gave none. Of a failed step, that of its last response.",
      example: 'stop',
    }),
    errorMessage: z.string().nullable(),
    tool: toolCall.nullable().meta({ description: 'Of a tool step.' }),
    warnings: z.array(z.strictObject({ code: wordOf(STEP_WARNINGS), message: z.string() })).meta({
      description:
        'What a person should know although the run went on: faults of the model server, and `outcome_unknown` of a call that may have taken effect. The list may grow.',
    }),
    usage,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: 'Step' });

export function presentStep(row: RunDetail['steps'][number]) {
  const warnings = row.state === 'outcome_unknown' ? [...row.warnings, row.state] : row.warnings;
  return {
    index: row.index,
    kind: row.kind,
    state: row.state,
    attempt: row.attempt,
    modelId: row.modelId,
    text: row.text,
    thinking: row.thinking,
    finishReason: row.finishReason,
    errorMessage: row.errorMessage,
    tool: row.tool === null ? null : presentToolCall(row.tool),
    warnings: warnings.map((code) => ({ code, message: STEP_WARNINGS[code] })),
    usage: presentUsage(row.usage),
    startedAt: isoOrNull(row.startedAt),
    finishedAt: isoOrNull(row.finishedAt),
  };
}

function presentToolCall(row: ToolRecord) {
  return {
    name: row.name,
    toolName: row.toolName,
    connectionId: row.connectionId,
    connectionName: row.connectionName,
    policyId: row.policyId,
    arguments: row.arguments,
    argumentsLength: row.argumentsLength,
    isError: row.isError,
    result: row.result,
    resultLength: row.resultLength,
    structured: row.structured,
    structuredLength: row.structuredLength,
    attachments: row.attachments.map(({ kind, mimeType, bytes, sha256, uri }) => ({
      kind,
      mimeType,
      bytes,
      sha256,
      uri,
    })),
    omittedFromStep: row.omittedFromStep ?? null,
    action: row.action ?? null,
    rule: row.rule ?? null,
  };
}

import { z } from 'zod';

/** Fields of a chat completion request that the fixture reads. The rules in rules.ts refuse other fields. */
export const ChatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown().optional(),
      tool_calls: z
        .array(
          z.looseObject({
            id: z.string(),
            function: z.looseObject({ name: z.string(), arguments: z.string() }),
          }),
        )
        .nullish(),
      tool_call_id: z.string().nullish(),
    }),
  ),
  max_tokens: z.int().nullish(),
  max_completion_tokens: z.int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.literal('function'),
        function: z.looseObject({ name: z.string(), parameters: z.unknown().optional() }),
      }),
    )
    .nullish(),
  tool_choice: z.union([z.string(), z.looseObject({ function: z.looseObject({ name: z.string() }) })]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .looseObject({
      type: z.string(),
      json_schema: z.looseObject({ name: z.string(), schema: z.unknown() }).nullish(),
    })
    .nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;
export type ChatMessage = ChatRequest['messages'][number];

/** Returns the text of a message, whose content is a string or a list of parts. */
export function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (part !== null && typeof part === 'object' && 'text' in part ? String(part.text) : ''))
    .join('\n');
}

/** Returns the task: the first message of the user, without the service's words about the run. */
export function taskOf({ messages }: ChatRequest): string {
  const first = messages.find(({ role }) => role === 'user') ?? messages[0];
  const [task = ''] = first === undefined ? [] : textOf(first).split(/^About this run:$/m);
  return task.trimEnd();
}

/** Joins all messages that the model is given. */
export function promptOf({ messages }: ChatRequest): string {
  return messages.map(textOf).join('\n');
}

/** Returns the text of the last tool result; empty if there is none. */
export function lastToolText({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'tool');
  return last === undefined ? '' : textOf(last);
}

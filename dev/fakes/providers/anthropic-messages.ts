import { z } from 'zod';
import type { ChatRequest } from '../gateway/request.ts';
import { pieces, sse, type FixtureProtocol } from './protocol.ts';

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
});

const Request = z.looseObject({
  model: z.string(),
  max_tokens: z.int().positive(),
  stream: z.literal(true),
  system: z.union([z.string(), z.array(Part)]).optional(),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['user', 'assistant']),
        content: z.union([z.string(), z.array(Part)]),
      }),
    )
    .min(1),
  tools: z.array(z.looseObject({ name: z.string(), input_schema: z.unknown() })).optional(),
});

/** Serves the streamed Messages API of Anthropic. */
export const anthropicMessages: FixtureProtocol = {
  completionPath: '/messages',
  credentialOf(headers) {
    const key = headers['x-api-key'];
    const hasVersion = typeof headers['anthropic-version'] === 'string';
    return hasVersion && typeof key === 'string' ? key : undefined;
  },
  read(body) {
    const { model, system, messages, tools } = Request.parse(body);
    return {
      model,
      stream: true,
      messages: [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        ...messages.flatMap(messagesOf),
      ],
      tools: tools?.map(({ name, input_schema: parameters }) => ({
        type: 'function' as const,
        function: { name, parameters },
      })),
    };
  },
  events(model, reply, usage) {
    const cached = usage.prompt_tokens_details.cached_tokens;
    const blocks = [...(reply.text === null ? [] : [textBlock(reply.text)]), ...reply.calls.map(callBlock)];
    const event = (type: string, fields: object) => sse({ type, ...fields }, type);
    return [
      event('message_start', {
        message: {
          id: 'msg_fixture',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: {
            input_tokens: usage.prompt_tokens - cached,
            cache_read_input_tokens: cached,
            cache_creation_input_tokens: 0,
            output_tokens: 1,
          },
        },
      }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        event('content_block_start', { index, content_block: start }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: { stop_reason: STOP_REASON[reply.finishReason] ?? reply.finishReason, stop_sequence: null },
        usage: { output_tokens: usage.completion_tokens },
      }),
      event('message_stop', {}),
    ];
  },
  errorEvent: (error) => sse({ type: 'error', error: { message: 'no', ...error } }, 'error'),
  errorBody: (type, message) => ({ type: 'error', error: { type, message } }),
};

const STOP_REASON: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};

type Message = ChatRequest['messages'][number];

/**
 * Converts a message to messages of a chat completion. Each tool result in the message becomes a message of its own.
 */
function messagesOf({ role, content }: z.output<typeof Request>['messages'][number]): Message[] {
  if (typeof content === 'string') return [{ role, content }];
  const results = content.flatMap((part): Message[] =>
    part.type === 'tool_result' ? [{ role: 'tool', content: part.content, tool_call_id: part.tool_use_id ?? '' }] : [],
  );
  const calls = content.flatMap((part) =>
    part.type === 'tool_use'
      ? [
          {
            id: part.id ?? '',
            function: { name: part.name ?? '', arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  );
  const rest = content.filter(({ type }) => type === 'text');
  const own: Message[] =
    rest.length > 0 || calls.length > 0
      ? [{ role, content: rest, ...(calls.length > 0 ? { tool_calls: calls } : {}) }]
      : [];
  return [...own, ...results];
}

function textBlock(text: string) {
  return {
    start: { type: 'text', text: '' },
    deltas: pieces(text).map((piece): object => ({ type: 'text_delta', text: piece })),
  };
}

function callBlock({ id, name, arguments: args }: { id: string; name: string; arguments: string }) {
  return {
    start: { type: 'tool_use', id, name, input: {} },
    deltas: pieces(args).map((partial_json): object => ({
      type: 'input_json_delta',
      partial_json,
    })),
  };
}

import { z } from 'zod';
import type { ChatRequest } from '../gateway/request.ts';
import { bearerOf, pieces, sse, type FixtureProtocol } from './protocol.ts';

const Item = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: z.unknown().optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  call_id: z.string().optional(),
  output: z.unknown().optional(),
});

const Request = z.looseObject({
  model: z.string(),
  instructions: z.string().nullish(),
  input: z.array(Item).min(1),
  stream: z.literal(true),
  /** False, because the provider must keep nothing. */
  store: z.literal(false),
  tools: z.array(z.looseObject({ type: z.literal('function'), name: z.string(), parameters: z.unknown() })).optional(),
});

/** Serves the streamed Responses API of OpenAI, without storage. */
export const openaiResponses: FixtureProtocol = {
  completionPath: '/responses',
  credentialOf: bearerOf,
  read(body) {
    const { model, instructions, input, tools } = Request.parse(body);
    const system = instructions == null ? [] : [{ role: 'system', content: instructions }];
    return {
      model,
      stream: true,
      messages: [...system, ...input.map(messageOf)],
      tools: tools?.map(({ name, parameters }) => ({
        type: 'function' as const,
        function: { name, parameters },
      })),
    };
  },
  events(model, reply, usage) {
    const response = { id: 'resp_fixture', created_at: 1_790_000_000, model };
    const items = [...(reply.text === null ? [] : [textItem(reply.text)]), ...reply.calls.map(callItem)];
    let sequence = 0;
    const event = (type: string, fields: object) => sse({ type, sequence_number: sequence++, ...fields }, type);
    return [
      event('response.created', { response: { ...response, status: 'in_progress' } }),
      ...items.flatMap(({ added, deltas, done }, index) => [
        event('response.output_item.added', { output_index: index, item: added }),
        ...deltas.map(({ type, ...delta }) => event(type, { output_index: index, ...delta })),
        event('response.output_item.done', { output_index: index, item: done }),
      ]),
      event(reply.finishReason === 'length' ? 'response.incomplete' : 'response.completed', {
        response: {
          ...response,
          incomplete_details: reply.finishReason === 'length' ? { reason: 'max_output_tokens' } : null,
          usage: {
            input_tokens: usage.prompt_tokens,
            input_tokens_details: usage.prompt_tokens_details,
            output_tokens: usage.completion_tokens,
            output_tokens_details: usage.completion_tokens_details,
          },
        },
      }),
    ];
  },
  errorEvent: (error) =>
    sse(
      {
        type: 'response.failed',
        sequence_number: 1,
        response: { error: { message: 'The fixture failed.', ...error }, incomplete_details: null },
      },
      'response.failed',
    ),
  errorBody: (type, message) => ({ error: { message, type, code: type, param: null } }),
};

function messageOf(item: z.output<typeof Item>): ChatRequest['messages'][number] {
  if (item.type === 'function_call') {
    const { call_id: id = '', name = '', arguments: args = '' } = item;
    const call = { id, function: { name, arguments: args } };
    return { role: 'assistant', content: '', tool_calls: [call] };
  }
  if (item.type === 'function_call_output') {
    return { role: 'tool', content: item.output, tool_call_id: item.call_id ?? '' };
  }
  return { role: item.role ?? 'user', content: item.content };
}

function textItem(text: string) {
  const item_id = 'msg_fixture';
  const head = { type: 'message', id: item_id, role: 'assistant' };
  const content = [{ type: 'output_text', text, annotations: [] }];
  return {
    added: { ...head, status: 'in_progress', content: [] },
    deltas: pieces(text).map((delta) => ({
      type: 'response.output_text.delta',
      item_id,
      content_index: 0,
      delta,
    })),
    done: { ...head, status: 'completed', content },
  };
}

function callItem({ id, name, arguments: args }: { id: string; name: string; arguments: string }) {
  const item_id = `fc_${id}`;
  const head = { type: 'function_call', id: item_id, call_id: id, name };
  return {
    added: { ...head, arguments: '', status: 'in_progress' },
    deltas: pieces(args).map((delta) => ({
      type: 'response.function_call_arguments.delta',
      item_id,
      delta,
    })),
    done: { ...head, arguments: args, status: 'completed' },
  };
}

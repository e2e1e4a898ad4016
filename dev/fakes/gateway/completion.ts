import { randomUUID } from 'node:crypto';

import type { Reply, ToolCall } from './reply.ts';
import type { Form } from './script.ts';

export interface Completion {
  id: string;
  created: number;
  model: string;
  reply: Reply;
  /** Undefined for a response without usage. */
  usage: unknown;
}

export function completion(model: string, reply: Reply, usage: unknown): Completion {
  return {
    id: `chatcmpl-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model,
    reply,
    usage,
  };
}

/** Makes the body of a response that is not streamed. */
export function completionBody({ reply, usage, ...head }: Completion, form: Form): string {
  return JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: contentOf(reply.text, form),
          ...reasoningOf(reply, reply.reasoning, form),
          ...(reply.calls.length === 0 ? {} : { tool_calls: callsOf(reply, form) }),
        },
        finish_reason: reasonOf(reply, form),
      },
    ],
    ...(usage === undefined ? {} : { usage }),
  });
}

/** Makes the server-sent events of a streamed response. If usage was requested, it comes last, without choices. */
export function completionEvents({ reply, usage, ...head }: Completion, form: Form, includeUsage: boolean): string[] {
  const chunk = (choices: readonly object[], further: object = {}): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...further })}\n\n`;
  const stated = includeUsage && usage !== undefined ? { usage } : undefined;
  const delta = (content: object, finishReason: string | null = null, further: object = {}) =>
    chunk([{ index: 0, delta: content, finish_reason: finishReason }], further);
  const events = [
    delta({ role: 'assistant', content: '' }),
    ...pieces(reply.reasoning ?? '').map((text) => delta(reasoningOf(reply, text, form))),
    ...pieces(reply.text ?? '').map((text) => delta({ content: contentOf(text, form) })),
    ...callsOf(reply, form).flatMap(({ function: named, ...rest }, index) => [
      delta({ tool_calls: [{ index, ...rest, function: { ...named, arguments: '' } }] }),
      ...pieces(named.arguments).map((text) => delta({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    delta({}, reasonOf(reply, form), form.usage === 'twice' ? stated : {}),
    ...(stated === undefined ? [] : [chunk([], stated)]),
    'data: [DONE]\n\n',
  ];
  const commented = form.comments === true ? events.flatMap((event) => [COMMENT, event]) : events;
  return form.crlf === true ? commented.map((event) => event.replaceAll('\n', '\r\n')) : commented;
}

/** Makes an event with the error of a stream; with `inChunk` the event also ends the choice. */
export function errorEvent({ id, created, model }: Completion, error: unknown, inChunk: boolean) {
  const choices = [{ index: 0, delta: { content: '' }, finish_reason: 'error' }];
  const chunk = { id, object: 'chat.completion.chunk', created, model, error, choices };
  return `data: ${JSON.stringify(inChunk ? chunk : { error })}\n\n`;
}

/** The comment by which OpenRouter keeps a connection open. */
export const COMMENT = ': OPENROUTER PROCESSING\n\n';

/** Moves reasoning and calls of a reply into its text, if the form has them there. */
export function formed(reply: Reply, form: Form): Reply {
  const { text, reasoning, calls, finishReason } = reply;
  const isThought = form.reasoning === 'think' || form.reasoning === 'think-end';
  const begin = form.reasoning === 'think' ? '<think>\n' : '';
  const thought = isThought && reasoning !== undefined ? `${begin}${reasoning}\n</think>\n\n` : '';
  const areWritten = form.calls === 'text' && calls.length > 0;
  const written = areWritten ? calls.map(asText).join('\n') : '';
  const keepsReasoning = reasoning !== undefined && !isThought && form.reasoning !== 'none';
  return {
    text: `${thought}${text ?? ''}${written}` || text,
    calls: areWritten ? [] : calls,
    finishReason: areWritten ? 'stop' : finishReason,
    ...(keepsReasoning ? { reasoning } : {}),
  };
}

function asText({ name, arguments: args }: ToolCall): string {
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${args}}\n</tool_call>`;
}

/** Returns usage in the given form; undefined for the form `none`. */
export function usageIn({ usage: form }: Form, usage: unknown): unknown {
  if (form === 'none') return undefined;
  if (form !== 'decimal text') return usage;
  return JSON.parse(
    JSON.stringify(usage, (_, value: unknown) =>
      typeof value === 'number' ? value.toFixed(Number.isInteger(value) ? 0 : 12) : value,
    ),
  );
}

/** Cuts a reply at a limit of output tokens. Reasoning counts first, then text and calls. */
export function cutReply(reply: Reply, maxTokens: number): Reply {
  let left = maxTokens * 4;
  const take = (text: string) => {
    const taken = text.slice(0, Math.max(left, 0));
    left -= text.length;
    return taken;
  };
  const reasoning = take(reply.reasoning ?? '');
  const text = reply.text === null ? null : take(reply.text);
  const calls = reply.calls.flatMap((call) => (left > 0 ? [{ ...call, arguments: take(call.arguments) }] : []));
  if (left >= 0 && calls.length === reply.calls.length) return reply;
  return { text, calls, finishReason: 'length', ...(reasoning === '' ? {} : { reasoning }) };
}

function contentOf(text: string | null, form: Form): unknown {
  return form.content === 'parts' && text !== null ? [{ type: 'text', text }] : text;
}

/** Makes the fields for the reasoning in a message or in a piece of it. */
function reasoningOf(reply: Reply, text: string | undefined, form: Form): object {
  if (text === undefined) return {};
  switch (form.reasoning) {
    case 'extra_content':
      // Add no signature here if the reply has a call: the first call contains it.
      return reply.calls.length > 0 ? {} : SIGNATURE;
    case 'reasoning_details':
      return {
        reasoning: text,
        reasoning_details: [{ type: 'reasoning.text', text, format: 'unknown', index: 0 }],
      };
    case 'reasoning':
      return { reasoning: text };
    default:
      return { reasoning_content: text };
  }
}

/** Gemini's signature in place of its reasoning. The next request must contain the signature. */
const SIGNATURE = {
  extra_content: { google: { thought_signature: 'Zml4dHVyZSBzaWduYXR1cmU=' } },
};

function callsOf({ calls }: Reply, form: Form) {
  return calls.map(({ id, name, arguments: args }, index) => {
    const ids = { own: id, same: calls[0]?.id, empty: '', missing: undefined };
    return {
      id: ids[form.ids ?? 'own'],
      type: 'function',
      function: { name, arguments: args },
      ...(form.reasoning === 'extra_content' && index === 0 ? SIGNATURE : {}),
    };
  });
}

function reasonOf({ finishReason }: Reply, form: Form): string | null {
  return form.finishReason === undefined ? finishReason : form.finishReason;
}

const PIECE_CHARACTERS = 80;
/** The most pieces of a text. Megabytes in more pieces would take longer to write than a test waits. */
const MOST_PIECES = 2_000;

function pieces(text: string): string[] {
  const length = Math.max(PIECE_CHARACTERS, Math.ceil(text.length / MOST_PIECES));
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}

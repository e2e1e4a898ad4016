import { randomUUID } from 'node:crypto';

import type { Reply } from './reply.ts';

export interface Completion {
  id: string;
  created: number;
  model: string;
  reply: Reply;
  /** Undefined leaves it out. */
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
export function completionBody({ reply, usage, ...head }: Completion): string {
  return JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text,
          ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
          ...(reply.calls.length === 0 ? {} : { tool_calls: reply.calls.map(callOf) }),
        },
        finish_reason: reply.finishReason,
      },
    ],
    ...(usage === undefined ? {} : { usage }),
  });
}

/** Makes the server-sent events of a streamed response; usage comes last, with no choices, when it was asked for. */
export function completionEvents(
  { reply, usage, ...head }: Completion,
  includeUsage: boolean,
): string[] {
  const delta = (content: object, finishReason: string | null = null): string =>
    event({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: content, finish_reason: finishReason }],
    });
  return [
    delta({ role: 'assistant', content: '' }),
    ...pieces(reply.reasoning ?? '').map((text) => delta({ reasoning_content: text })),
    ...pieces(reply.text ?? '').map((content) => delta({ content })),
    ...reply.calls.flatMap((call, index) => {
      const { function: named, ...rest } = callOf(call);
      return [
        delta({ tool_calls: [{ index, ...rest, function: { ...named, arguments: '' } }] }),
        ...pieces(call.arguments).map((text) =>
          delta({ tool_calls: [{ index, function: { arguments: text } }] }),
        ),
      ];
    }),
    delta({}, reply.finishReason),
    ...(includeUsage && usage !== undefined
      ? [event({ ...head, object: 'chat.completion.chunk', choices: [], usage })]
      : []),
    'data: [DONE]\n\n',
  ];
}

function callOf({ id, name, arguments: args }: Reply['calls'][number]) {
  return {
    id,
    type: 'function',
    function: { name, arguments: args },
  };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

const PIECE_CHARACTERS = 80;

function pieces(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / PIECE_CHARACTERS) }, (_, index) =>
    text.slice(index * PIECE_CHARACTERS, (index + 1) * PIECE_CHARACTERS),
  );
}

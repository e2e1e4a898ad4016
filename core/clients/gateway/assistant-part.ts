import type { ModelMessage } from 'ai';
import { isJsonObject } from '#lib/json.ts';
import { withoutThinking, type ThinkingHabits } from './thinking.ts';

/** The assistant's part of a response, in the form in which the next request sends it back. */
export interface AssistantPart {
  readonly text: string;
  readonly messages: readonly ModelMessage[];
}

/**
 * Reads the assistant's part of a response. Reasoning goes back under its original name. Thinking is taken out of the
 * text and kept apart; it is never sent. Arguments that are not an object go back as an empty object, because servers
 * would refuse every later request with such arguments. The run words the refusals of unusable calls itself, because
 * the library's words quote the whole call.
 * @param reasoning by the name of its original field
 */
export function assistantPart(
  said: string,
  messages: readonly ModelMessage[],
  { reasoning = {}, ...habits }: ThinkingHabits & { readonly reasoning?: Readonly<Record<string, unknown>> } = {},
): AssistantPart {
  const read = messages.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    const { content, thinking } = readContent(message.content, habits);
    const kept: ProviderOptions = {
      ...message.providerOptions,
      ...(Object.keys(reasoning).length === 0 ? {} : { openaiCompatible: asJson(reasoning) }),
      ...(thinking === '' ? {} : { kept: { thinking } }),
    };
    const isPlain = Object.keys(kept).length === 0;
    return [{ role: message.role, content, ...(isPlain ? {} : { providerOptions: kept }) }];
  });
  return { text: withoutThinking(said, habits).text, messages: read };
}

type AssistantContent = Extract<ModelMessage, { role: 'assistant' }>['content'];

function readContent(
  content: AssistantContent,
  habits: ThinkingHabits,
): { readonly content: AssistantContent; readonly thinking: string } {
  if (typeof content === 'string') {
    const { text, thinking } = withoutThinking(content, habits);
    return { content: text, thinking };
  }
  const thoughts: string[] = [];
  const parts = content.flatMap((part): typeof content => {
    if (part.type === 'tool-call') return [isJsonObject(part.input) ? part : { ...part, input: {} }];
    if (part.type !== 'text') return [part];
    const { text, thinking } = withoutThinking(part.text, habits);
    if (thinking !== '') thoughts.push(thinking);
    return text === '' ? [] : [{ ...part, text }];
  });
  return { content: parts, thinking: thoughts.join('\n') };
}

type ProviderOptions = NonNullable<ModelMessage['providerOptions']>;

export function asJson(value: object): ProviderOptions[string] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it came out of JSON
  return value as ProviderOptions[string];
}

import { jsonSchema, tool } from 'ai';
import type { ModelAbilities } from '#core/clients/gateway/index.ts';
import type { ModelCall, ModelResponse } from '#core/execution/steps/index.ts';
import { isJsonObject, parseJson } from '#lib/json.ts';

/**
 * The most tokens that a model may write in one check. A reasoning model needs some of them for its reasoning alone.
 */
export const MAX_CHECK_OUTPUT = 1_024;

export interface CheckVerdict {
  readonly passed: boolean;
  /** Describes the answer in one sentence. */
  readonly words: string;
  /** Abilities of the model's server that the response shows. */
  readonly shows: ModelAbilities;
}

export const CHECKS = ['text', 'tool', 'schema'] as const;

/** One request to a model, and the findings from its response. */
export interface ModelCheck {
  readonly kind: (typeof CHECKS)[number];
  readonly request: Pick<ModelCall, 'instructions' | 'messages' | 'tools' | 'resultSchema'>;
  readonly judge: (response: ModelResponse) => CheckVerdict;
  /** Returns the abilities that a refusal in these words shows. */
  readonly refused: (words: string) => ModelAbilities;
}

const INSTRUCTIONS = 'This is a test of the service. Do exactly what the message says.';

function asking(content: string) {
  return { instructions: INSTRUCTIONS, messages: [{ role: 'user' as const, content }], tools: {} };
}

const CAPITAL = {
  type: 'object',
  properties: { country: { type: 'string' }, capital: { type: 'string' } },
  required: ['country', 'capital'],
  additionalProperties: false,
};

export const CHECKS_TO_MAKE: readonly ModelCheck[] = [
  {
    kind: 'text',
    request: asking('Answer with the one word: ready'),
    judge: ({ text }) =>
      text.trim() === ''
        ? { passed: false, words: 'It wrote no text.', shows: {} }
        : { passed: true, words: `It wrote: ${quoted(text)}`, shows: {} },
    refused: () => ({}),
  },
  {
    kind: 'tool',
    request: {
      ...asking('Call the tool add with a = 2 and b = 3.'),
      tools: {
        add: tool({
          description: 'Adds two numbers.',
          inputSchema: jsonSchema({
            type: 'object',
            properties: { a: { type: 'number' }, b: { type: 'number' } },
            required: ['a', 'b'],
          }),
        }),
      },
    },
    judge: ({ toolCalls, text }) => {
      const call = toolCalls.find(({ name, invalid }) => name === 'add' && !invalid);
      if (call !== undefined) {
        const { a, b } = isJsonObject(call.input) ? call.input : {};
        const isRight = Number(a) === 2 && Number(b) === 3;
        const words = `The model called the tool with ${quoted(JSON.stringify(call.input))}`;
        return { passed: isRight, words, shows: { tools: true } };
      }
      const words =
        toolCalls.length > 0
          ? 'The model called a tool in an unusable form.'
          : `The model called no tool. ${text.trim() === '' ? 'It wrote nothing.' : `It wrote: ${quoted(text)}`}`;
      // Conclude nothing about the server, because a small model may have misunderstood the request.
      return { passed: false, words, shows: {} };
    },
    refused: (words) => (/tool|function/i.test(words) ? { tools: false } : {}),
  },
  {
    kind: 'schema',
    // The prompt does not mention JSON: data in the response means that the server enforced the schema.
    request: { ...asking('Name the capital of France.'), resultSchema: CAPITAL },
    judge: ({ text }) => {
      const data = parseJson(text);
      const { country, capital } = isJsonObject(data) ? data : {};
      const passed = typeof country === 'string' && typeof capital === 'string';
      const words = passed
        ? `The model kept to the schema: ${quoted(text)}`
        : `The model did not keep to the schema: ${quoted(text)}`;
      return { passed, words, shows: { structuredOutputs: passed } };
    },
    refused: (words) =>
      /response_format|json_?schema|schema|structured/i.test(words) ? { structuredOutputs: false } : {},
  },
];

const SHOWN = 200;

function quoted(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return `“${line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line}”`;
}

import { wrapLanguageModel, type LanguageModel, type LanguageModelMiddleware, type ModelMessage } from 'ai';
import { jsonFault } from './faults.ts';
import { parseJson } from './parse.ts';

/** Arguments of a call, after the library has parsed the model's text. */
interface ReadCall {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly invalid?: boolean | undefined;
}

interface ExactCall {
  readonly input: unknown;
  readonly invalid: boolean;
}

/**
 * Wraps a model so that the arguments of its calls can be read again from their text: the library rounds numbers and
 * drops the first of two values with one name. Unusable arguments are returned as text, as the library does for
 * arguments that are not JSON.
 */
export function withExactArguments(model: Exclude<LanguageModel, string>): {
  readonly model: LanguageModel;
  read(call: ReadCall): ExactCall;
  /** Returns messages of the model with the arguments of their calls in exact form. */
  inMessages(messages: readonly ModelMessage[]): ModelMessage[];
} {
  const texts = new Map<string, string>();
  const note = (part: Part) => {
    if (part.type === 'tool-call' && part.toolCallId !== undefined && part.input !== undefined) {
      texts.set(part.toolCallId, part.input);
    }
  };
  const read = ({ toolCallId, input, invalid = false }: ReadCall): ExactCall => {
    const text = texts.get(toolCallId);
    const exact = invalid || text === undefined ? undefined : parseJson(text);
    if (text === undefined || exact === undefined) return { input, invalid };
    return faultOf(text, exact) === undefined ? { input: exact, invalid: false } : { input: text, invalid: true };
  };
  return {
    model: wrapLanguageModel({
      model,
      middleware: {
        async wrapGenerate({ doGenerate }) {
          const generated = await doGenerate();
          generated.content.forEach(note);
          return generated;
        },
        async wrapStream({ doStream }) {
          const { stream, ...rest } = await doStream();
          const noting = new TransformStream<Streamed, Streamed>({
            transform(part, controller) {
              note(part);
              controller.enqueue(part);
            },
          });
          return { ...rest, stream: stream.pipeThrough(noting) };
        },
      },
    }),
    read,
    inMessages: (messages) =>
      messages.map((message) => {
        if (message.role !== 'assistant' || typeof message.content === 'string') return message;
        const content = message.content.map((part) =>
          part.type === 'tool-call' ? { ...part, input: read(part).input } : part,
        );
        return { ...message, content };
      }),
  };
}

type WrapStream = NonNullable<LanguageModelMiddleware['wrapStream']>;
type Streamed = Awaited<ReturnType<WrapStream>>['stream'] extends ReadableStream<infer P> ? P : never;

interface Part {
  readonly type: string;
  readonly toolCallId?: string;
  readonly input?: string;
}

/** Explains why arguments that are JSON cannot be used; undefined if they can be used or are not JSON. */
export function argumentsFault(text: string): string | undefined {
  const value = parseJson(text);
  return value === undefined ? undefined : faultOf(text, value);
}

/** The most levels of arguments. With more, a digest of a call or the writing of JSON would fail. */
const MAX_DEPTH = 100;

function faultOf(text: string, value: unknown): string | undefined {
  return isDeeper(value, MAX_DEPTH) ? `nested deeper than ${MAX_DEPTH} levels` : jsonFault(text, value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

import { randomBytes } from 'node:crypto';
import { isJsonObject, jsonObjectsIn, type JsonObject } from '#lib/json.ts';
import { faultIn, type Fault } from './events.ts';
import { brokenOff } from './failure.ts';
import { brokenInWords, finishClass, finishWord, isGoodEnd, REFUSED, type FinishClass } from './finish-words.ts';
import type { Refusal } from './refusal.ts';
import { wholeCalls } from './streamed-calls.ts';

/** Makes the error for a response with status 200 that is not a completion. */
export type Refuse = (refused: {
  readonly body: string;
  readonly status: number;
  /** Message to use when the error names no status. */
  readonly message?: string | undefined;
  /** The finish reason of a response that cannot be used. */
  readonly finishWord?: string | undefined;
  /** True once a part of the response has arrived. */
  readonly begun: boolean;
  readonly usage?: unknown;
}) => Refusal;

/**
 * Fields in which servers send the reasoning of a model. Some servers want the reasoning returned in the same field.
 */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** Parts of a response that the model library does not read, kept in the field `beyond` of the body. */
export interface Beyond {
  /** Reasoning under its original name, for the request that sends it back. */
  readonly reasoning: Readonly<Record<string, unknown>>;
  /** The server's own finish reason; null if the server gave none. */
  readonly finishWord: string | null;
  /**
   * True if the server stated the usage. A server counts tokens only at the end of a response, so the response has
   * reached its end.
   */
  readonly hasUsage: boolean;
}

/**
 * Rewrites a completion so that the library reads it right: calls with distinct ids, counts as numbers, reasoning apart
 * from the text.
 * @throws {Refusal} for an error with status 200, and for a completion whose finish reason says that it is not complete
 * @throws {GatewayFailure} for an empty completion
 */
export function readCompletion(body: unknown, refuse: Refuse): unknown {
  const values: unknown[] = Array.isArray(body) ? body : [body];
  for (const each of values.filter(isJsonObject)) {
    const fault = faultIn(each);
    if (fault !== undefined) throw refuse({ ...refusedBy(fault), begun: false, usage: each['usage'] });
  }
  const [value] = values;
  if (!isJsonObject(value) || !Array.isArray(value['choices'])) return value;
  const { choices, usage } = value;
  const choice: unknown = choices.find(isJsonObject);
  if (!isJsonObject(choice)) throw brokenOff(false);
  const message = choice['message'];
  if (!isJsonObject(message)) return value;
  const { content, refusal, tool_calls: _calls, function_call: _call, ...others }: Record<string, unknown> = message;
  const reasoning = Object.fromEntries(
    REASONING_FIELDS.flatMap((name) => (others[name] == null ? [] : [[name, others[name]]])),
  );
  for (const name of REASONING_FIELDS) delete others[name];
  const calls = withOwnIds(wholeCalls(message));
  const said = textOf(content);
  const isRefused = said === '' && calls.length === 0 && typeof refusal === 'string' && refusal !== '';
  const given = wordOf(choice);
  const word = isRefused && (given === undefined || isGoodEnd(given)) ? REFUSED : given;
  const kind = word === undefined ? 'whole' : finishClass(word);
  if (word !== undefined && (kind === 'broken' || kind === 'unknown' || (kind === 'calls' && calls.length === 0))) {
    const error = { body: '', status: 502, message: brokenInWords(word), finishWord: word };
    throw refuse({ ...error, begun: true, usage });
  }
  const hasUsage = isJsonObject(usage) && Object.values(usage).some((count) => Number(count) > 0);
  const isEmpty = said.trim() === '' && calls.length === 0 && Object.keys(reasoning).length === 0;
  if (word === undefined && isEmpty) throw brokenOff(hasUsage);
  const beyond: Beyond = { reasoning, finishWord: word ?? null, hasUsage };
  const read = { ...others, content: isRefused ? refusal : said };
  const last = calls.at(-1);
  // If a call was cut before its first argument, it looks like a call without arguments: make its arguments unusable.
  if (kind === 'cut' && last?.function.arguments.trim() === '') last.function.arguments = '{';
  return {
    ...value,
    ...(isJsonObject(usage) ? { usage: withNumbers(usage) } : {}),
    choices: [
      {
        index: 0,
        message: { ...read, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
        finish_reason: WORD_OF[kind],
      },
    ],
    beyond,
  };
}

/** The model library's finish reason for each class. */
const WORD_OF: Readonly<Partial<Record<FinishClass, string>>> = {
  whole: 'stop',
  calls: 'tool_calls',
  cut: 'length',
  withheld: 'content_filter',
};

/** Returns the refusal for a fault, with status 502 if the fault names no status. */
export function refusedBy({ status, ...fault }: Fault) {
  const message = 'The model provider answered with an error.';
  return status === undefined ? { ...fault, status: 502, message } : { ...fault, status };
}

/**
 * Returns the finish reason. A router may say `stop` although the host behind it reports that the text was cut: then
 * the host's reason counts.
 */
function wordOf({ finish_reason: reason, native_finish_reason: native }: JsonObject): string | undefined {
  const word = finishWord(reason);
  const hosts = finishWord(native);
  const isWorse = hosts !== undefined && !isGoodEnd(hosts) && finishClass(hosts) !== 'unknown';
  return word !== undefined && isGoodEnd(word) && isWorse ? hosts : word;
}

/** Returns the text of a content, which may be a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const texts = jsonObjectsIn(content).map(({ text }) => text);
  return texts.filter((text) => typeof text === 'string').join('');
}

type WholeCall = ReturnType<typeof wholeCalls>[number];

/** Gives each call a distinct id. A new id has nine letters and digits, as Mistral requires. */
function withOwnIds(calls: readonly WholeCall[]): WholeCall[] {
  const seen = new Set<string | undefined>([undefined]);
  return calls.map((call) => {
    const isOwn = !seen.has(call.id);
    seen.add(call.id);
    return isOwn ? call : { ...call, id: randomBytes(8).toString('hex').slice(0, 9) };
  });
}

const WHOLE_NUMBER = /^\d{1,15}$/;

/** Turns token counts into numbers, because some gateways send them as decimal texts. */
function withNumbers(usage: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => {
      if (name.endsWith('_tokens') && typeof value === 'string' && WHOLE_NUMBER.test(value)) {
        return [name, Number(value)];
      }
      return [name, name.endsWith('_details') && isJsonObject(value) ? withNumbers(value) : value];
    }),
  );
}

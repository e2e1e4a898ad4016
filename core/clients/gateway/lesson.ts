import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import type { ModelAbilities } from './abilities.ts';
import type { ErrorBody } from './error-body.ts';

/** The lesson of a refusal. Quotations of the request do not count. */
export interface Lesson {
  /** The lesson for later requests; undefined if the refusal names no field that could be left out or changed. */
  readonly learned: ModelAbilities | undefined;
  /** Output tokens for which the server has room; undefined for every other refusal. */
  readonly outputLeft: number | undefined;
  readonly isOverflow: boolean;
}

/**
 * Statuses with which servers refuse a field; llama.cpp and Ministral's template respond with 500, OpenRouter with 404.
 */
const REFUSING: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);

/** Words of OpenAI, llama.cpp, vLLM, LiteLLM, Mistral, Anthropic, Gemini and Ollama for a prompt that is too long. */
const OVERFLOW =
  /exceed_context_size|context_length_exceeded|context[ _-]?(length|size|window)|maximum (model|sequence|prompt) length|(prompt|input)[^.]{0,40} (is )?too (long|large)|too many (input )?tokens|token count[^.]{0,40}exceeds|exceeds? the (available|maximum) context/i;

/**
 * Reads a refusal. The `param` or `loc` of the error, or the server's own words, name a field.
 * @param own the words of the error without quotations of the request
 * @param sent the request that was refused
 */
export function lessonOf(status: number, { said, places }: ErrorBody, own: string, sent: JsonObject): Lesson {
  const left = outputLeftIn(own, sent);
  const isOverflow = OVERFLOW.test(own) && left === undefined;
  const isRefusing = REFUSING.has(status) && !isOverflow;
  return {
    learned: isRefusing
      ? learnFrom({ said, own, places: places.filter((place) => Object.hasOwn(sent, rootOf(place))) }, sent)
      : undefined,
    outputLeft: left,
    isOverflow,
  };
}

interface Named {
  readonly said: string;
  /** The server's own words, without quotations of the request. */
  readonly own: string;
  /** Places that begin with a field of the request. */
  readonly places: readonly string[];
}

function rootOf(place: string): string {
  return place.split('.', 1)[0] ?? '';
}

/**
 * Returns the lesson about the model's server, by the fields that the refusal names. Source: error texts of the
 * servers, listed in docs/models.md.
 */
function learnFrom(named: Named, sent: JsonObject): ModelAbilities | undefined {
  const { said, own, places } = named;
  // A place names its field exactly. Read the words only if the error names no place, or only places among the
  // messages.
  const words = places.every((place) => rootOf(place) === 'messages') ? own : '';
  const isNamed = (field: string, pattern: RegExp) =>
    Object.hasOwn(sent, field) && (places.some((place) => rootOf(place) === field) || pattern.test(words));
  const most = numberIn(MOST_OUTPUT, own);
  const limit = limitOf(sent);
  if (most !== undefined && limit !== undefined) {
    return most >= MIN_OUTPUT && most < limit ? { maxOutputTokens: most } : undefined;
  }
  const window = numberIn(WINDOW, own);
  if (window !== undefined) return window >= MIN_WINDOW ? { contextTokens: window } : undefined;
  // Try the other name only if the server does not know this name. A server that refuses only the number could accept
  // the other name and ignore the limit.
  if (UNKNOWN_FIELD.test(said) || /max_completion_tokens/.test(own)) {
    if (isNamed('max_tokens', /max_tokens|max_completion_tokens/)) return { outputLimit: 'max_completion_tokens' };
    if (isNamed('max_completion_tokens', /max_completion_tokens/)) return { outputLimit: 'max_tokens' };
  }
  if (EFFORT_FIELDS.some((field) => isNamed(field, /reasoning[_.]?effort|\breasoning\b|chat_template_kwargs/i))) {
    return { effort: 'none' };
  }
  if (isNamed('stream_options', /stream_options|include_usage/i)) return { streamUsage: false };
  if (isNamed('parallel_tool_calls', /parallel_tool_calls/)) return { parallelToolCallsField: false };
  const messages = JSON.stringify(sent['messages'] ?? []);
  const hasCalls = messages.includes('"tool_calls":');
  if (hasCalls && /(single|one|multiple|parallel) tool[-_ ]?calls?/i.test(words)) return { parallelToolCalls: false };
  if (isNamed('response_format', /response_?format|json_schema|structured[ _]outputs?/i)) {
    // Find out whether the words are about the schema in the field, or about the field itself.
    const isSchema = CONTENT.test(named.said) || !UNKNOWN_FIELD.test(named.said);
    return isSchema ? { [schemaKey(sent['response_format'])]: false } : { structuredOutputs: false };
  }
  if (hasCalls && !Object.hasOwn(sent, 'tools') && /\btools?=?[`'" ]/i.test(words)) return { callsWithoutTools: false };
  if (/"reasoning(_content|_details)?":/.test(messages) && /reasoning/i.test(`${words} ${places.join(' ')}`)) {
    return { reasoningBack: false };
  }
  if (/system['"]? (role|message|prompt)[^.]{0,40}(not|un)/i.test(words)) return { systemRole: false };
  if (isNamed('stream', /\bstream(ing|ed)?\b/i)) return { streaming: false };
  return undefined;
}

const EFFORT_FIELDS = ['reasoning_effort', 'reasoning', 'chat_template_kwargs'] as const;

/** Matches texts with which OpenAI, Groq and DeepSeek refuse an output limit above the model's own. */
const MOST_OUTPUT =
  /(?:at most|max(?:_completion)?_tokens[`'"]? (?:must be less than or equal to|(?:must|can)(?:not| not) exceed|is \[1,)) [`'"]?(\d+)/i;
const WINDOW = /maximum (?:context|model) length (?:is|of) (\d+)/i;

/** No model is useful below these numbers: a smaller number is a mistake that would end every run. */
const MIN_OUTPUT = 256;
const MIN_WINDOW = 1_024;

function numberIn(pattern: RegExp, words: string): number | undefined {
  const number = Number(pattern.exec(words)?.[1]);
  return Number.isSafeInteger(number) ? number : undefined;
}

function limitOf(sent: JsonObject): number | undefined {
  const limit = sent['max_tokens'] ?? sent['max_completion_tokens'];
  return typeof limit === 'number' ? limit : undefined;
}

/** Returns the number of tokens that are left for the output. vLLM and older models of OpenAI name this number. */
function outputLeftIn(words: string, sent: JsonObject): number | undefined {
  const limit = limitOf(sent);
  if (limit === undefined) return undefined;
  const input = /(\d+) (?:input tokens|in the (?:messages|prompt))/i.exec(words)?.[1];
  const left = numberIn(MOST_OUTPUT, words) ?? (numberIn(WINDOW, words) ?? Number.NaN) - Number(input);
  return left >= MIN_OUTPUT && left < limit ? left : undefined;
}

const CONTENT =
  /invalid schema|in context|propert(y|ies)\b|keyword|\brequired\b|\benum\b|\$ref|\$defs|pattern|nest(ed|ing)|depth|complex|too (many|large|long|deep|big)|grammar|recurs|anyOf|oneOf|allOf/i;

const UNKNOWN_FIELD =
  /(not|n't|un|never)[- _]?(be )?(support|recogni[sz]|know|avail|permit|allow|accept|implement)|extra_forbidden|unknown|no endpoints|cannot (be )?combine|only (be )?(text|json_object)/i;

/** Returns the name of the ability to accept one schema, with the schema's hash. @param format a `response_format` */
export function schemaKey(format: unknown): `schema ${string}` {
  const schema = isJsonObject(format) && isJsonObject(format['json_schema']) ? format['json_schema']['schema'] : format;
  return `schema ${hash('sha256', JSON.stringify(schema) ?? '').slice(0, 16)}`;
}

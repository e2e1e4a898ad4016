import { APICallError, NoSuchToolError } from 'ai';
import { tokenCount, type Usage } from '#core/foundation/cost/index.ts';
import { reasonAsMessage } from '#core/execution/run-states/index.ts';
import { now } from '#lib/clock.ts';
import { isAccountEmpty } from '#lib/provider-file/account-empty.ts';
import { isJsonObject, parseJson, type JsonObject } from '#lib/json.ts';
import { redactAuthorization } from '#lib/redact-authorization.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';
import { ModelFailure } from '../stop.ts';
import { promptTexts, readErrorBody, withoutOwnTexts, withoutQuotes } from './error-body.ts';
import { textFault } from './events.ts';
import { lessonOf, type Lesson } from './lesson.ts';

/** A response of a model server that says no, in its own words. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** The server's words, cleaned; empty where it gave none. */
  readonly words: string;
  readonly retryAfter: string | undefined;
  readonly lesson: Lesson;
  /** True where it is about money, and not about the request. */
  readonly isAccountEmpty: boolean;
  /** True once a part of the response has come, which the provider may bill. */
  readonly begun: boolean;
  /** The usage that the server stated for what it has begun. */
  readonly usage: unknown;
  /** The finish reason of a response that broke off; undefined where it gave none. */
  readonly finishWord: string | undefined;

  constructor(
    refused: {
      readonly status: number;
      readonly body: string;
      readonly retryAfter?: string | undefined;
      readonly begun?: boolean;
      readonly usage?: unknown;
      readonly message?: string | undefined;
      readonly finishWord?: string | undefined;
    },
    request: { readonly body: string; readonly apiKey: string | undefined },
  ) {
    const error = readErrorBody(refused.body);
    super(refused.message ?? `The model provider answered ${refused.status}.`);
    this.status = refused.status;
    this.retryAfter = refused.retryAfter;
    this.begun = refused.begun === true;
    this.usage = refused.usage;
    this.finishWord = refused.finishWord;
    const parsed = parseJson(request.body);
    const sent = isJsonObject(parsed) ? parsed : {};
    const own = withoutOwnTexts(error.said, sent);
    this.lesson = lessonOf(refused.status, error, own, sent);
    const hasWait = refused.retryAfter !== undefined;
    this.isAccountEmpty = isAccountEmpty({ status: refused.status, said: own, hasWait });
    this.words = clean(error.told || error.said, { sent, apiKey: request.apiKey });
  }
}

/** Length at which a provider's words are cut. */
const MAX_WORDS = 500;

/** Takes keys, our own prompt and everything unprintable out of a provider's words, and cuts them. */
function clean(said: string, { sent, apiKey }: { sent: JsonObject; apiKey: string | undefined }): string {
  // Enough to find what has to go, wherever the cut is.
  const start = said.slice(0, 3 * MAX_WORDS);
  const printable = start.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  const withoutKey = apiKey === undefined ? printable : printable.replaceAll(apiKey, REDACTED);
  const redacted = redactAuthorization(withoutKey).replaceAll(KEY_LIKE, REDACTED);
  const prompt = promptTexts(sent)
    .join(' ')
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ');
  const quoted = withoutQuotes(redacted, prompt, QUOTE);
  return quoted.length <= MAX_WORDS ? quoted : `${quoted.slice(0, MAX_WORDS - 1).toWellFormed()}…`;
}

const REDACTED = '[redacted]';

/** Keys as providers print them in errors, whole or masked. */
const KEY_LIKE = /\b(?:sk|pk|rk|gsk|xai|AIza|key|hf)[-_][\w*.-]{6,}/g;

/** Characters that stand in the prompt as well are a quotation of it from this length on. */
const QUOTE = 32;

/** Converts any error of the model library into a failure with a reason of the closed list. */
export function toModelFailure(error: unknown, apiKey?: string): ModelFailure {
  const ours = causeOf(error, ModelFailure);
  if (ours !== undefined) return ours;
  const refusal = causeOf(error, Refusal);
  if (refusal !== undefined) return fromRefusal(refusal);
  if (APICallError.isInstance(error) && error.statusCode === undefined) {
    return new ModelFailure('model_unreachable', 'The model provider could not be reached.', {
      retryable: true,
      isStarting: causes(error).some((cause) => 'code' in cause && cause.code === 'ECONNREFUSED'),
    });
  }
  const said = wordsInstead(error, apiKey);
  if (said !== undefined && (said.isAccountEmpty || said.status !== 200)) return fromRefusal(said);
  const [reason, message] = reasonAndWords(error);
  return new ModelFailure(reason, message, { retryable: true, words: said?.words ?? '' });
}

/** Reads a text that came instead of a completion as the server's words; a part of a completion is none. */
function wordsInstead(error: unknown, apiKey: string | undefined): Refusal | undefined {
  if (!APICallError.isInstance(error)) return undefined;
  const { responseBody = '', requestBodyValues } = error;
  if (responseBody.trim() === '' || /^\s*[{[]/.test(responseBody)) return undefined;
  const { body, status = 200 } = textFault(responseBody);
  return new Refusal({ status, body }, { body: JSON.stringify(requestBodyValues), apiKey });
}

function reasonAndWords(error: unknown): [ModelFailure['reason'], string] {
  if (NoSuchToolError.isInstance(error)) {
    return ['model_malformed', 'The model asked for a tool that does not exist.'];
  }
  const name = error instanceof Error ? error.name : '';
  const isCall = APICallError.isInstance(error);
  if (!isCall && /Timeout/.test(name)) {
    return ['model_unreachable', 'The model provider did not answer in time.'];
  }
  if (isCall || UNREADABLE.test(name)) {
    return ['model_malformed', 'The model provider answered something unreadable.'];
  }
  return ['model_unreachable', 'The model provider broke off the call.'];
}

const UNREADABLE = /JSONParse|TypeValidation|InvalidResponse|NoContent|EmptyResponse|NoOutput/;

/** Finds an error of a class among an error and its causes. */
export function causeOf<T extends Error>(error: unknown, kind: new (...args: never[]) => T): T | undefined {
  return causes(error).find((cause): cause is T => cause instanceof kind);
}

/** Returns the error and its causes: the library wraps what our own fetch throws in errors of its own. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 10; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

function fromRefusal(refusal: Refusal): ModelFailure {
  const { status, message, words, lesson, begun, retryAfter, usage, finishWord } = refusal;
  const settled = { cutOff: begun, finishWord, ...(isJsonObject(usage) ? { usage: usageIn(usage) } : {}) };
  if (refusal.isAccountEmpty) {
    const empty = reasonAsMessage('model_account_empty');
    return new ModelFailure('model_account_empty', empty, { retryable: false, words, ...settled });
  }
  const retryAfterMs = parseRetryAfter(retryAfter, { now: new Date(now()), maxMs: MAX_RETRY_AFTER_MS });
  if (lesson.isOverflow) return new ModelFailure('context_exceeded', message, { retryable: false, words });
  if (status === 429) {
    return new ModelFailure('model_rate_limited', message, { retryable: true, retryAfterMs, words, ...settled });
  }
  // 408, 409 and 5xx are temporary; any other 4xx means that this request or our key is wrong.
  return new ModelFailure(reasonOf(status), message, {
    retryable: status >= 500 || status === 408 || status === 409,
    retryAfterMs,
    words,
    ...settled,
    isStarting: status === 503,
  });
}

function usageIn(stated: JsonObject): Usage {
  return {
    inputTokens: tokenCount(Number(stated['prompt_tokens'])),
    cachedInputTokens: 0,
    outputTokens: tokenCount(Number(stated['completion_tokens'])),
    reasoningTokens: 0,
    estimated: false,
  };
}

/**
 * Returns the reason for a status: 401 and 403 are about the operator's key at the gateway, not about what a
 * routine asks for.
 */
function reasonOf(status: number): 'model_error' | 'model_refused' | 'model_key_refused' {
  if (status >= 401 && status <= 403) return 'model_key_refused';
  const refused = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return refused ? 'model_refused' : 'model_error';
}

/** Longest delay by which a provider can postpone a step. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

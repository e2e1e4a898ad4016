import { APICallError, NoSuchToolError } from 'ai';
import { now } from '#lib/clock.ts';
import { isAccountEmpty } from '#lib/provider-file/account-empty.ts';
import { parseJson } from '#lib/exact-json/parse.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { redactAuthorization } from '#lib/redact-authorization.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';
import { promptTexts, readErrorBody, withoutOwnTexts, withoutQuotes } from './error-body.ts';
import { textFault } from './events.ts';
import { brokenOff, GatewayFailure, type GatewayFailureKind } from './failure.ts';
import { lessonOf, type Lesson } from './lesson.ts';

/** A refusal by a model server, with the server's own words. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** The server's words, cleaned; empty without words. */
  readonly words: string;
  readonly retryAfter: string | undefined;
  readonly lesson: Lesson;
  /** True when the refusal is about money and not about the request. */
  readonly isAccountEmpty: boolean;
  /** True once a part of the response has arrived: the provider may bill it. */
  readonly begun: boolean;
  /** The usage that the server reported before it broke off. */
  readonly usage: unknown;
  /** The finish reason of a response that broke off; undefined if it had none. */
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

function clean(said: string, { sent, apiKey }: { sent: JsonObject; apiKey: string | undefined }): string {
  // Read more than is kept, so that a secret at the end is found before the text is cut.
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

/** Matches keys as providers print them in errors, whole or masked. */
const KEY_LIKE = /\b(?:sk|pk|rk|gsk|xai|AIza|key|hf)[-_][\w*.-]{6,}/g;

/** A piece of this many characters that also occurs in the prompt counts as a quotation. */
const QUOTE = 32;

/** Converts any error of the model library into a failure. @param apiKey key to remove from the server's words */
export function toGatewayFailure(error: unknown, apiKey?: string): GatewayFailure {
  const ours = causeOf(error, GatewayFailure);
  if (ours !== undefined) return ours;
  const refusal = causeOf(error, Refusal);
  if (refusal !== undefined) return fromRefusal(refusal);
  if (APICallError.isInstance(error) && error.statusCode === undefined) {
    return new GatewayFailure('unreachable', 'The model provider could not be reached.', {
      retryable: true,
      isStarting: causes(error).some((cause) => 'code' in cause && cause.code === 'ECONNREFUSED'),
    });
  }
  const said = wordsInstead(error, apiKey);
  if (said !== undefined && (said.isAccountEmpty || said.status !== 200)) return fromRefusal(said);
  return failureByName(error, said?.words ?? '');
}

/**
 * Reads a text that came in place of a completion as the server's own words. A part of a completion does not count,
 * because its words are the model's.
 */
function wordsInstead(error: unknown, apiKey: string | undefined): Refusal | undefined {
  if (!APICallError.isInstance(error)) return undefined;
  const { responseBody = '', requestBodyValues } = error;
  if (responseBody.trim() === '' || /^\s*[{[]/.test(responseBody)) return undefined;
  const { body, status = 200 } = textFault(responseBody);
  return new Refusal({ status, body }, { body: JSON.stringify(requestBodyValues), apiKey });
}

function failureByName(error: unknown, words: string): GatewayFailure {
  const details = { retryable: true, words };
  if (NoSuchToolError.isInstance(error)) {
    return new GatewayFailure('malformed', 'The model asked for a tool that does not exist.', details);
  }
  const name = error instanceof Error ? error.name : '';
  const isCall = APICallError.isInstance(error);
  if (!isCall && /Timeout/.test(name)) {
    return new GatewayFailure('unreachable', 'The model provider did not answer in time.', details);
  }
  if (isCall || UNREADABLE.test(name)) {
    return new GatewayFailure('malformed', 'The response of the model provider cannot be read.', details);
  }
  return brokenOff(false);
}

const UNREADABLE = /JSONParse|TypeValidation|InvalidResponse|NoContent|EmptyResponse|NoOutput/;

/** Finds an error of a class in an error and its causes. */
export function causeOf<T extends Error>(error: unknown, kind: new (...args: never[]) => T): T | undefined {
  return causes(error).find((cause): cause is T => cause instanceof kind);
}

/** Lists an error and its causes. The library wraps the errors of this service's `fetch`. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 10; cause = cause.cause) {
    found.push(cause);
  }
  return found;
}

function fromRefusal(refusal: Refusal): GatewayFailure {
  const { status, message, words, lesson, begun, retryAfter, usage, finishWord } = refusal;
  const stated = isJsonObject(usage)
    ? { inputTokens: Number(usage['prompt_tokens']), outputTokens: Number(usage['completion_tokens']) }
    : undefined;
  const begunSo = { words, cutOff: begun, finishWord, stated };
  if (refusal.isAccountEmpty) return new GatewayFailure('account_empty', message, { retryable: false, ...begunSo });
  if (lesson.isOverflow) return new GatewayFailure('context_exceeded', message, { retryable: false, words });
  const kind = kindOf(status);
  return new GatewayFailure(kind, message, {
    ...begunSo,
    retryable: kind === 'rate_limited' || PASSING.has(status) || status >= 500,
    retryAfterMs: parseRetryAfter(retryAfter, { now: new Date(now()), maxMs: MAX_RETRY_AFTER_MS }),
    isStarting: status === 503,
  });
}

/** Statuses that are temporary, in addition to every 5xx. */
const PASSING: ReadonlySet<number> = new Set([408, 409]);

function kindOf(status: number): GatewayFailureKind {
  if (status === 429) return 'rate_limited';
  if (status >= 401 && status <= 403) return 'key_refused';
  return status >= 400 && status < 500 && !PASSING.has(status) ? 'refused' : 'error';
}

/** Longest delay that a server can request. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

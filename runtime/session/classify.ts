import type { FailureCode, FailureDetails } from '#lib/envelope/bodies.ts';
import { isAccountEmpty } from '#lib/provider-file/account-empty.ts';
import { valueAt, valuesAt } from '#lib/provider-file/protocols.ts';

/** The failure of a provider, by a code of the closed list. */
export interface Classified {
  readonly code: FailureCode;
  readonly details: FailureDetails;
}

export interface LimitWords {
  readonly errors: readonly string[];
  readonly resetAt?: string | undefined;
  readonly resetInSeconds?: string | undefined;
}

/** Longest wait after a burst of requests. A longer wait means that the allowance is used up. */
const LONGEST_BURST_MS = 10 * 60_000;

/**
 * Reads a response with an error's status.
 * @param response.retryAfterMs the wait of its `Retry-After`, read outside of the session; undefined without one
 * @param response.body parsed JSON; undefined for another body
 */
export function classifyStatus(
  response: { status: number; retryAfterMs: number | undefined; body: unknown },
  limits: LimitWords,
  now = Date.now(),
): Classified {
  const { status, body } = response;
  const claimedMs = response.retryAfterMs ?? Number.NaN;
  const retryAfterMs = isSane(claimedMs) ? claimedMs : null;
  const resetAt = readReset(body, limits, now);
  const waitMs = resetAt === null ? retryAfterMs : resetAt - now;
  if (resetAt === null && retryAfterMs === null && saysEmpty(status, body)) return ACCOUNT_EMPTY;
  const isLimit = status === 402 || (status < 500 && namesLimit(body, limits));
  if (isLimit || (status === 429 && (waitMs ?? 0) > LONGEST_BURST_MS)) {
    return {
      code: 'usage_limit',
      details: { status, resetAt: resetAt ?? (retryAfterMs === null ? null : now + retryAfterMs) },
    };
  }
  if (status === 401 || status === 403) return { code: 'credential_refused', details: { status } };
  if (status === 429) return { code: 'rate_limited', details: { status, retryAfterMs: waitMs } };
  if (status === 413) return { code: 'too_large', details: { status } };
  const retryable = status >= 500 || status === 408 || status === 409;
  return { code: 'model_error', details: { status, retryable, retryAfterMs } };
}

/** Failure of an account without money. A used-up allowance with a reset is a different failure. */
const ACCOUNT_EMPTY: Classified = { code: 'usage_limit', details: { status: 402, resetAt: null } };

function saysEmpty(status: number, body: unknown): boolean {
  // Long texts are left out, because they may quote the prompt.
  const said = strings(body, 0)
    .filter((text) => text.length <= 500)
    .join(' ');
  return isAccountEmpty({ status, said, hasWait: false });
}

/** Reads an error within a stream, after status 200. */
export function classifyStreamError(error: unknown, limits: LimitWords, now = Date.now()): Classified {
  if (readReset(error, limits, now) === null && saysEmpty(200, error)) return ACCOUNT_EMPTY;
  if (namesLimit(error, limits)) {
    return {
      code: 'usage_limit',
      details: { status: 200, resetAt: readReset(error, limits, now) },
    };
  }
  const words = strings(error, 0).filter((text) => text.length <= 80);
  const isBusy = words.some((word) => /^rate_?limit/i.test(word));
  return isBusy
    ? { code: 'rate_limited', details: { status: 200, retryAfterMs: null } }
    : { code: 'model_error', details: { status: 200, retryable: true } };
}

function namesLimit(body: unknown, { errors }: LimitWords): boolean {
  return errors.length > 0 && strings(body, 0).some((text) => errors.includes(text));
}

function strings(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 6) return [];
  return Object.values(value)
    .slice(0, 100)
    .flatMap((each) => strings(each, depth + 1));
}

function readReset(body: unknown, limits: LimitWords, now: number): number | null {
  const at = limits.resetAt === undefined ? undefined : valueAt(body, limits.resetAt);
  if (at !== undefined) {
    const instant = typeof at === 'number' ? at * 1_000 : Date.parse(typeof at === 'string' ? at : '');
    if (isSane(instant - now)) return instant;
  }
  const path = limits.resetInSeconds;
  const seconds = path === undefined ? undefined : Number(valuesAt(body, path)[0]);
  return seconds !== undefined && isSane(seconds * 1_000) ? now + seconds * 1_000 : null;
}

/** Returns true for a wait of at most forty days, because a provider's time is only a claim. */
function isSane(ms: number): boolean {
  return Number.isFinite(ms) && ms >= 0 && ms <= 40 * 86_400_000;
}

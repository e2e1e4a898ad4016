import { ApiError, ConnectionError, TimeoutError } from './errors.ts';
import type { OperationId, PutOptions } from './types.ts';

/**
 * The longest wait before a retry. If the service asks for a longer wait, the caller gets the error, which states the
 * wait.
 */
const LONGEST_RETRY_AFTER_MS = 60_000;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

/**
 * Calls that must not be repeated: a second one would act again, or respond with an error although the first succeeded.
 */
const ONCE: ReadonlySet<OperationId> = new Set([
  'cancelRun',
  'deleteChat',
  'deleteConnection',
  'deleteSharedLink',
  'deleteSkill',
  'draftRoutine',
  'testChat',
  'testWebhook',
]);

/**
 * Tells whether a call may be sent again although the service may have carried it out. With `ifMatch` the second call
 * would fail.
 */
export function isRepeatable(id: OperationId, { ifMatch, ifNoneMatch }: PutOptions): boolean {
  return !ONCE.has(id) && ifMatch === undefined && ifNoneMatch === undefined;
}

/**
 * Returns the pause before the request is sent again; undefined if the request must not be repeated.
 * @param attempt 0 after the first attempt
 */
export function pauseBefore(
  error: unknown,
  { repeatable, attempt }: { repeatable: boolean; attempt: number },
): number | undefined {
  if (!isTemporary(error) || (!repeatable && !isRefusal(error))) return undefined;
  if (error instanceof ApiError && error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= LONGEST_RETRY_AFTER_MS ? error.retryAfterMs : undefined;
  }
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
  return pauseMs * (0.5 + Math.random() / 2);
}

/** Tells whether the same request may succeed later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status, code } = error;
  return status === 408 || status === 429 || status >= 500 || code === 'idempotency_in_progress';
}

/** Tells whether the service has certainly not begun with the request. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 408 || error.status === 429);
}

/** Resolves after this time; rejects with the reason of the signal when it aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

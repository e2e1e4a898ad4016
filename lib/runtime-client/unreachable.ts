/**
 * Why there is no sealed answer. The call may be under way or even over: only the same request id, sent again, can
 * tell.
 */
export type UnreachableReason =
  /** No connection, or none to the runtime that the pinned authority vouches for. */
  | 'no_connection'
  /** It is full or stopping. Nothing was begun. */
  | 'busy'
  /** It does not take our envelopes: another secret, another instance, or a clock that is off. */
  | 'rejected'
  /** No frame for too long. */
  | 'silent'
  /** The stream ended without its last frame, or with one that does not open. */
  | 'broken'
  /** It isolates no sessions, which production does not take. */
  | 'not_isolated';

export class RuntimeUnreachable extends Error {
  override readonly name = 'RuntimeUnreachable';
  readonly reason: UnreachableReason;
  readonly retryAfterMs: number | undefined;

  constructor(reason: UnreachableReason, retryAfterMs?: number) {
    super(`The provider runtime cannot be reached (${reason}).`);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

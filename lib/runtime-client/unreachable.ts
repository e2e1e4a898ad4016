/**
 * The reason why there is no sealed response. The call may be running or even over: only the same request id, sent
 * again, can tell.
 */
export type UnreachableReason =
  /** No connection, or none to the runtime that the pinned authority vouches for. */
  | 'no_connection'
  /** The runtime is full or stopping. Nothing was begun. */
  | 'busy'
  /**
   * The runtime does not accept our envelopes: it has another secret, is another instance, or one of the clocks is
   * wrong.
   */
  | 'rejected'
  /** The runtime cannot write its state, and began nothing. */
  | 'failing'
  /** No frame for too long. */
  | 'silent'
  /** The stream ended without its last frame, or with one that does not open. */
  | 'broken'
  /** The runtime isolates no sessions, which production does not accept. */
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

/** Reasons for which an event stream ends before its run does, each with the message to the follower. */
export const STREAM_ENDS = {
  access_ended: 'The credential of this stream may not read the run any more.',
  server_stopping: 'The server stops; go on with Last-Event-ID.',
  time_limit: 'The stream has been open for long enough; go on with Last-Event-ID.',
} as const;

export type StreamEnd = keyof typeof STREAM_ENDS;

/** Returns the reason for which the signal was aborted, where it is one that the follower is told. */
export function streamEndOf(signal: AbortSignal): StreamEnd | undefined {
  const reason: unknown = signal.reason;
  return STREAM_END_NAMES.find((name) => name === reason);
}

export const STREAM_END_NAMES = [
  'access_ended',
  'server_stopping',
  'time_limit',
] as const satisfies readonly StreamEnd[];

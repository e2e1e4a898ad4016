import type { Answers } from './answers.ts';

/** The expected end of a run that calls one tool of the server after the token has expired. */
export interface MustRun {
  readonly state: 'succeeded' | 'failed';
  readonly reason?: 'blocked_connection';
  /** The outcome of the run, although the model states `done`. */
  readonly outcome?: 'done' | 'partial';
  readonly warnings?: readonly string[];
  /** Refreshes that reach the server, counted since the previous run. */
  readonly refreshes?: number;
  /** The error of the connection after the run; by default the connection is `ready`. */
  readonly connection?: string;
}

/** One way in which authorization servers break the rules, and the expected behaviour of the service. */
export interface OddCase {
  readonly name: string;
  readonly answers: Answers;
  /** The error at the start or the end of a sign-in; undefined if the sign-in succeeds. */
  readonly refusal?: RegExp;
  /** False if the service does not know when the token expires: the test then need not move the clock. */
  readonly expires?: false;
  /**
   * The consecutive runs with their expected ends, each with an expired token. By default there is one run, which
   * succeeds.
   */
  readonly runs?: readonly MustRun[];
}

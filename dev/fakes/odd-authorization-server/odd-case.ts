import type { Answers } from './answers.ts';

/** The end of a run that calls one tool of the server after the token has expired. */
export interface MustRun {
  readonly state: 'succeeded' | 'failed';
  readonly reason?: 'blocked_connection';
  /** The outcome of the run, although the model states `done`. */
  readonly outcome?: 'done' | 'partial';
  readonly warnings?: readonly string[];
  /** Refreshes that the server is asked for, from the run before on. */
  readonly refreshes?: number;
  /** The error of the connection after it; `ready` where it is left out. */
  readonly connection?: string;
}

/** A way in which authorization servers are odd, with what has to happen. */
export interface OddCase {
  readonly name: string;
  readonly answers: Answers;
  /** The error at the start of a sign-in, or at its end; none where the person gets signed in. */
  readonly refusal?: RegExp;
  /** False if no end of the token is known, so that the clock does not end it. */
  readonly expires?: false;
  /** One after the other, each with an expired token; one that succeeds where it is left out. */
  readonly runs?: readonly MustRun[];
}

/** One attempt at a model step. */
export interface Attempt {
  readonly runId: string;
  readonly index: number;
  readonly attempt: number;
}

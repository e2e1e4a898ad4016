import type { ResultCheckType } from '#core/routines/index.ts';

/** Lists the outcomes of a run that succeeded. A run that could not do its work has failed, with `could_not`. */
export const OUTCOMES = {
  done: 'the work was done',
  nothing_to_report: 'the work was done, and nothing was found that is worth reporting',
  partial: 'a part of the work could not be done',
} as const;
export type Outcome = keyof typeof OUTCOMES;

/** The verdict of one check, in the order in which the routine lists them. */
export interface CheckResult {
  readonly type: ResultCheckType;
  readonly passed: boolean;
  /** Describes the finding without repeating anything of the result. */
  readonly detail: string;
}

/** Outcome of a run, beyond its state. */
export interface RunOutcome {
  /** Null unless the run succeeded. */
  readonly outcome: Outcome | null;
  /** The model's words at the end of the run; null when it wrote none. */
  readonly outcomeSummary: string | null;
  /** Empty when nothing was checked. */
  readonly checks: readonly CheckResult[];
}

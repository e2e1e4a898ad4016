import type { PassedLimit } from '#core/usage/index.ts';
import type { ResultKey } from '#core/authoring/definition/index.ts';
import type { CheckResult, NextRuns, Outcome, RunWarning, Urgency } from '#core/authoring/outcomes/index.ts';
import { sentence } from '#lib/text.ts';
import {
  CLASS_OF_FAILURE,
  RUN_REASONS,
  type EndState,
  type FailureClass,
  type FailureReason,
  type RunReason,
} from './states.ts';

/** The end of a run: its state, its reason and its result. */
export interface RunEnding {
  readonly state: EndState;
  readonly reason: RunReason | null;
  readonly errorMessage: string | null;
  readonly result: string | null;
  /** Class of the failure, which says whose fault it is; null for every other end. */
  readonly failureClass: FailureClass | null;
  /** Outcome of a successful run; default `done`. */
  readonly outcome?: Outcome;
  readonly outcomeSummary?: string | null | undefined;
  /** The model's word for how soon the result should be read. */
  readonly urgency?: Urgency | undefined;
  /** Undefined if nothing was checked. */
  readonly checks?: readonly CheckResult[];
  /** Warnings about missing tools or texts; default none. */
  readonly warnings?: readonly RunWarning[] | undefined;
  /** The budget that left too little for the next step, if it is known. */
  readonly passedLimit?: PassedLimit | undefined;
  /** Wishes of a successful run about the runs after it. */
  readonly next?: NextRuns | undefined;
  /** Data of the result in the form that the routine asks for; undefined without a form. */
  readonly data?: ResultData;
}

export interface ResultData {
  readonly value: unknown;
  /** Key that identifies the items of the list; null without one. */
  readonly by: ResultKey | null;
}

/** Returns the ending of a failed run, in the words of its reason unless `message` is more exact. */
export function failure(reason: FailureReason, message?: string): RunEnding {
  const errorMessage = message ?? reasonAsMessage(reason);
  const failureClass = CLASS_OF_FAILURE[reason];
  return { state: 'failed', reason, errorMessage, result: null, failureClass };
}

/** Returns the ending of a run whose model step ended with a text. */
export function success(result: string | null): RunEnding {
  return { state: 'succeeded', reason: null, errorMessage: null, result, failureClass: null };
}

export const cancellation = unfinished('cancelled', 'cancelled');

/** The ending of an open run that the next occurrence replaces. */
export const replacement = unfinished('cancelled', 'replaced');

/** Returns the ending of a queued run that is skipped. */
export function skip(reason: RunReason): RunEnding {
  return unfinished('skipped', reason);
}

function unfinished(state: 'cancelled' | 'skipped', reason: RunReason): RunEnding {
  return { state, reason, errorMessage: reasonAsMessage(reason), result: null, failureClass: null };
}

/** Returns the error message of a run without a more exact one than its reason. */
export function reasonAsMessage(reason: RunReason): string {
  return sentence(RUN_REASONS[reason]);
}

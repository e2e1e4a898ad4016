import type { DeliverPolicy } from '#core/routines/index.ts';
import { areNone, type ComparedResult, type Withheld } from '#core/outcomes/index.ts';
import type { RunState } from '../states.ts';

interface JudgedRun {
  readonly state: RunState;
  readonly outcome: string | null;
  /** Null without data. */
  readonly changes: ComparedResult | null;
}

/**
 * Decides whether a routine's webhook is told of the end of a run. It is told of every failure: silence means that
 * nothing has changed, never that nothing works. The first data of all counts as a change.
 * @returns the reason for not telling it, or null
 */
export function withheldBy(
  deliver: DeliverPolicy,
  { state, outcome, changes }: JudgedRun,
): Withheld | null {
  if (deliver === 'always' || state === 'failed') return null;
  if (deliver === 'failed') return 'not_failed';
  if (state === 'cancelled') return 'no_change';
  if (changes === null && outcome === 'nothing_to_report') return 'no_change';
  // Data that an earlier version of the routine did not ask for cannot be compared.
  if (changes === null || changes.against === null) return null;
  return areNone(changes) ? 'no_change' : null;
}

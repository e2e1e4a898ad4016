import type { ResultCheckType, ResultCheck } from '#core/authoring/definition/index.ts';
import type { URGENCIES } from '#core/integrations/tools/index.ts';
import { areNone, type ComparedResult } from './changes.ts';
import { countSources, type CallCount } from './evidence.ts';

/** The outcomes of a run that succeeded. A run that could not do its work has failed, with `could_not`. */
export const OUTCOMES = {
  done: 'the work was done',
  nothing_to_report: 'the work was done, and nothing was found that is worth reporting',
  partial: 'a part of the work could not be done',
} as const;
export type Outcome = keyof typeof OUTCOMES;

export type Urgency = (typeof URGENCIES)[number];

/** Warnings of a run that succeeded. A run with a warning is `partial` at best, and proves nothing. */
export const RUN_WARNINGS = {
  tools_failed: 'every call to the tools of a connection failed, so the run had to work without them',
} as const;
export type RunWarning = keyof typeof RUN_WARNINGS;

/** The result of one check. Results have the order of the routine's checks. */
export interface CheckResult {
  readonly type: ResultCheckType;
  readonly passed: boolean;
  /** The finding of the check, without words of the result. */
  readonly detail: string;
}

/** Outcome of a run, in addition to its state. */
export interface RunOutcome {
  /** Outcome of the run; null unless the run succeeded. */
  readonly outcome: Outcome | null;
  /** The model's own words at the end of the run; null when the model wrote none. */
  readonly outcomeSummary: string | null;
  /** The urgency that the model stated; null if the model stated none. */
  readonly statedUrgency: Urgency | null;
  /** Results of the checks; empty when nothing was checked. */
  readonly checks: readonly CheckResult[];
  /** Warnings about missing tools or texts; empty for nearly every run. */
  readonly warnings: readonly RunWarning[];
}

/**
 * Returns how soon the result of a run should be read: `none` if the run had nothing to report, else the urgency that
 * the model stated, else an urgency that depends on whether the data has changed. Null unless the run succeeded.
 */
export function urgencyOf({
  outcome,
  statedUrgency,
  changes,
}: {
  readonly outcome: string | null;
  readonly statedUrgency: Urgency | null;
  readonly changes: Pick<ComparedResult, 'against' | 'counts'> | null;
}): Urgency | null {
  if (outcome === null) return null;
  if (outcome === 'nothing_to_report') return 'none';
  if (statedUrgency !== null) return statedUrgency;
  return changes !== null && changes.against !== null && areNone(changes) ? 'none' : 'normal';
}

/** The facts on which checks decide. */
export interface Evidence {
  readonly outcome: Outcome;
  readonly result: string;
  /** True where the result matches a check's pattern, by the check's index; undefined if the search took too long. */
  readonly patterns: ReadonlyMap<number, boolean | undefined>;
  readonly calls: readonly CallCount[];
}

/** Decides which checks of the routine a run passes. The same evidence always gets the same results. */
export function decideChecks(checks: readonly ResultCheck[], evidence: Evidence): CheckResult[] {
  return checks.map((check, index) => ({
    type: check.type,
    ...findingOf(check, evidence, evidence.patterns.get(index)),
  }));
}

type Finding = Omit<CheckResult, 'type'>;

function findingOf(check: ResultCheck, evidence: Evidence, found: boolean | undefined): Finding {
  if (evidence.outcome === 'nothing_to_report' && ASKS_FOR_REPORT.has(check.type)) {
    return { passed: true, detail: 'Not asked of a run that has nothing to report.' };
  }
  switch (check.type) {
    case 'result_not_empty': {
      const passed = evidence.result.trim() !== '';
      return { passed, detail: passed ? 'The result has a text.' : 'The result is empty.' };
    }
    case 'result_matches':
      return matching(found, true);
    case 'result_does_not_match':
      return matching(found, false);
    case 'distinct_sources': {
      const sources = countSources(evidence.result, check.atLeast);
      return counted(sources, check.atLeast, 'Distinct source addresses in the result');
    }
    case 'tool_succeeded': {
      const calls = evidence.calls.filter(({ name, policyId }) => name === check.tool || policyId === check.tool);
      const succeeded = sum(calls.map((each) => each.succeeded));
      return counted(succeeded, check.atLeast, `Successful calls of ${check.tool}`);
    }
    case 'no_refused_calls': {
      const refused = sum(evidence.calls.map((each) => each.refused));
      return { passed: refused === 0, detail: `Refused calls: ${refused}.` };
    }
  }
}

/** Checks of the content of a report. A run with nothing to report skips these checks, but not the other checks. */
const ASKS_FOR_REPORT: ReadonlySet<ResultCheck['type']> = new Set(['result_matches', 'distinct_sources']);

function matching(found: boolean | undefined, wanted: boolean): Finding {
  if (found === undefined) {
    return { passed: false, detail: 'The result is too long for this pattern to be looked for.' };
  }
  const detail = `The pattern is ${found ? '' : 'not '}in the result.`;
  return { passed: found === wanted, detail };
}

function counted(number: number, atLeast: number, what: string): Finding {
  return { passed: number >= atLeast, detail: `${what}: ${number}, at least ${atLeast} wanted.` };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

import type { ResultCheck } from '#core/routines/index.ts';
import type { CallCount } from './calls.ts';
import type { CheckResult, Outcome } from './outcome.ts';
import { countSources } from './sources.ts';

/** The facts by which a run is judged. */
export interface Evidence {
  readonly outcome: Outcome;
  readonly result: string;
  /**
   * True, by the index of the check, where the result matches the check's pattern; undefined where that could not be
   * determined.
   */
  readonly patterns: ReadonlyMap<number, boolean | undefined>;
  readonly calls: readonly CallCount[];
}

/** Judges a run by the checks of its routine. The same evidence always gets the same verdicts. */
export function judge(checks: readonly ResultCheck[], evidence: Evidence): CheckResult[] {
  return checks.map((check, index) => ({
    type: check.type,
    ...verdictOf(check, evidence, evidence.patterns.get(index)),
  }));
}

type Verdict = Omit<CheckResult, 'type'>;

function verdictOf(check: ResultCheck, evidence: Evidence, found: boolean | undefined): Verdict {
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
      const calls = evidence.calls.filter(
        ({ name, policyId }) => name === check.tool || policyId === check.tool,
      );
      const succeeded = sum(calls.map((each) => each.succeeded));
      return counted(succeeded, check.atLeast, `Successful calls of ${check.tool}`);
    }
    case 'no_refused_calls': {
      const refused = sum(evidence.calls.map((each) => each.refused));
      return { passed: refused === 0, detail: `Refused calls: ${refused}.` };
    }
  }
}

/**
 * Types of checks on the content of a report. They do not apply to a run that states that it has nothing to report;
 * those on its tool calls, and on what no result may contain, do.
 */
const ASKS_FOR_REPORT: ReadonlySet<ResultCheck['type']> = new Set([
  'result_matches',
  'distinct_sources',
]);

function matching(found: boolean | undefined, wanted: boolean): Verdict {
  if (found === undefined) {
    return { passed: false, detail: 'The result is too long for this pattern to be looked for.' };
  }
  const detail = `The pattern is ${found ? '' : 'not '}in the result.`;
  return { passed: found === wanted, detail };
}

function counted(number: number, atLeast: number, what: string): Verdict {
  return {
    passed: number >= atLeast,
    detail: `${what}: ${number}, at least ${atLeast} wanted.`,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

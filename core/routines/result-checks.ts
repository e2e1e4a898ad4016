import { invalid } from '#lib/errors.ts';
import { patternFault } from '#lib/linear-pattern/index.ts';

/** Lists whether runs have to state their outcome by calling `finish`. A run that need not is done when it succeeds. */
export const OUTCOME_RULES = ['optional', 'required'] as const;
export type OutcomeRule = (typeof OUTCOME_RULES)[number];

/** A condition that code checks when a run would succeed. */
export type ResultCheck =
  | { readonly type: 'result_not_empty' }
  | { readonly type: 'result_matches' | 'result_does_not_match'; readonly pattern: string }
  | { readonly type: 'distinct_sources'; readonly atLeast: number }
  | {
      readonly type: 'tool_succeeded';
      /** The name by which the model calls the tool, or the id of its policy. */
      readonly tool: string;
      readonly atLeast: number;
    }
  | { readonly type: 'no_refused_calls' };
export type ResultCheckType = ResultCheck['type'];

export const RESULT_CHECK_TYPES = [
  'result_not_empty',
  'result_matches',
  'result_does_not_match',
  'distinct_sources',
  'tool_succeeded',
  'no_refused_calls',
] as const satisfies readonly ResultCheckType[];

/** @throws {AppError} `invalid_request` naming each check whose pattern cannot be used */
export function checkPatterns(checks: readonly ResultCheck[]): void {
  const issues = checks.flatMap((check, index) => {
    const message = 'pattern' in check ? patternFault(check.pattern) : undefined;
    return message === undefined ? [] : [{ path: `checks[${index}].pattern`, message }];
  });
  if (issues.length > 0) throw invalid(issues);
}

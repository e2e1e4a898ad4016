import type { z } from 'zod';
import { invalid, type ErrorCode, type Fault } from '#lib/errors.ts';
import { showPath } from './body.ts';
import { EMPTY, plainWords } from './plain-words.ts';

/**
 * Parses a value and reports every fault. A custom check may name a more exact code than `invalid_request` in
 * `params.code`; the first such code wins.
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: plainWords, reportInput: true });
  if (parsed.success) return parsed.data;
  const faults = once(parsed.error.issues.flatMap(faultsOf));
  const code = parsed.error.issues.map(codeOf).find((found) => found !== undefined);
  throw invalid(faults, code);
}

function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 20).map((key) => ({
      path: showPath([...issue.path, key.slice(0, 100)]),
      message: 'unknown field',
    }));
  }
  const message =
    issue.code === 'invalid_type' && issue.input === undefined ? 'required' : issue.message;
  return [{ path: showPath(issue.path), message }];
}

/** Says once what is wrong with an empty value: that it breaks other rules too is no news. */
function once(faults: readonly Fault[]): Fault[] {
  const empty = new Map(
    faults.filter(({ message }) => message.startsWith(EMPTY)).map((each) => [each.path, each]),
  );
  return faults.filter((each) => (empty.get(each.path) ?? each) === each);
}

function codeOf(issue: z.core.$ZodIssue): ErrorCode | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only our own checks set this, with a code of the closed list
  return issue.code === 'custom' ? (issue.params?.['code'] as ErrorCode | undefined) : undefined;
}

import type { ResultCheck } from '#core/routines/index.ts';
import type { Db } from '#lib/database/index.ts';
import { failure, type RunEnding } from '#core/runs/index.ts';
import { asksForCalls, countCalls, judge, type Evidence } from '#core/outcomes/index.ts';

/**
 * Decides how a run ends that would succeed: by its routine's checks, from what is recorded in the transaction that
 * ends it. A failed check makes it fail.
 */
export async function decideEnding(
  db: Db,
  run: { readonly id: string; readonly checks: readonly ResultCheck[] },
  ending: RunEnding,
  patterns: Evidence['patterns'],
): Promise<RunEnding> {
  if (ending.state !== 'succeeded' || run.checks.length === 0) return ending;
  const calls = asksForCalls(run.checks) ? await countCalls(db, run.id) : [];
  const { outcome = 'done', result: text } = ending;
  const checks = judge(run.checks, { outcome, result: text ?? '', patterns, calls });
  const failed = checks.findIndex(({ passed }) => !passed);
  const check = checks[failed];
  if (check === undefined) return { ...ending, checks };
  const message = `Check ${failed + 1} of ${checks.length}, ${check.type}, failed: ${check.detail}`;
  const { result, outcomeSummary } = ending;
  return { ...failure('check_failed', message), result, outcomeSummary, checks };
}

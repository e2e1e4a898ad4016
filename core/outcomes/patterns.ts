import type { ResultCheck } from '#core/routines/index.ts';
import { matchesPattern, PatternTooSlow } from '#lib/linear-pattern/index.ts';

/** Searches a result for the patterns of the checks, before the transaction that ends the run, as it takes time. */
export async function findPatterns(
  { projectId, checks }: { readonly projectId: string; readonly checks: readonly ResultCheck[] },
  result: string,
): Promise<Map<number, boolean | undefined>> {
  const found = new Map<number, boolean | undefined>();
  for (const [index, check] of checks.entries()) {
    if ('pattern' in check) found.set(index, await isIn(projectId, result, check.pattern));
  }
  return found;
}

async function isIn(
  projectId: string,
  result: string,
  pattern: string,
): Promise<boolean | undefined> {
  try {
    return await matchesPattern(projectId, pattern, result);
  } catch (error) {
    if (error instanceof PatternTooSlow) return undefined;
    throw error;
  }
}

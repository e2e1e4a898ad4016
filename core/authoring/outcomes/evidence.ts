import { FINISH } from '#core/integrations/tools/index.ts';
import type { ResultCheck } from '#core/authoring/definition/index.ts';
import type { Db } from '#lib/database/index.ts';
import { matchesPattern, PatternTooSlow } from '#lib/linear-pattern.ts';

/** Counts of a tool's calls in a run, for checks. */
export interface CallCount {
  /** The name by which the model called the tool. */
  readonly name: string;
  readonly policyId: string | null;
  readonly succeeded: number;
  readonly refused: number;
}

export function asksForCalls(checks: readonly ResultCheck[]): boolean {
  return checks.some(({ type }) => type === 'tool_succeeded' || type === 'no_refused_calls');
}

/**
 * Counts the calls of a run. All calls are recorded once the last step is recorded. A refused call of `finish` did
 * nothing, so it does not count; a held call has not succeeded.
 */
export function countCalls(db: Db, runId: string): Promise<CallCount[]> {
  return db.rows<CallCount>`
    select tool->>'name' as name, tool->>'policyId' as "policyId",
      (count(*) filter (where state = 'succeeded' and not tool ? 'action'))::integer as succeeded,
      (count(*) filter (where (tool->>'rejected')::boolean or (tool->>'refused')::boolean))::integer as refused
    from steps
    where run_id = ${runId} and kind = 'tool'
      and not (tool->>'policyId' is null and coalesce(tool->>'toolName', '') = ${FINISH})
    group by 1, 2
  `;
}

/** Tells whether a run called the tools of some connection without any success. */
export async function lacksConnection(db: Db, runId: string): Promise<boolean> {
  const found = await db.row`
    select 1 from steps
    where run_id = ${runId} and kind = 'tool' and tool->>'policyId' is not null
    group by tool->>'connectionId' having bool_and(state <> 'succeeded') limit 1
  `;
  return found !== undefined;
}

/** Searches a result for the patterns of checks. The search takes time, so it precedes the run's last transaction. */
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

async function isIn(projectId: string, result: string, pattern: string): Promise<boolean | undefined> {
  try {
    return await matchesPattern(projectId, pattern, result);
  } catch (error) {
    if (error instanceof PatternTooSlow) return undefined;
    throw error;
  }
}

/** The most addresses that are read from a text. A check asks for far fewer. */
const MAX_READ = 10_000;

/**
 * Counts the distinct web addresses in a text. Addresses that differ only in their fragments are one source.
 * @param enough the number at which the count stops
 */
export function countSources(text: string, enough: number): number {
  const written = new Set<string>();
  const sources = new Set<string>();
  for (const [address] of text.matchAll(ADDRESS)) {
    if (written.has(address)) continue;
    written.add(address);
    const url = URL.parse(address.replace(TRAILING, ''));
    if (url === null) continue;
    url.hash = '';
    sources.add(url.href);
    if (sources.size >= enough || written.size >= MAX_READ) break;
  }
  return sources.size;
}

/** Matches an address up to where prose, Markdown, HTML or JSON ends it. */
const ADDRESS = /https?:\/\/[^\s<>"'`()[\]{}|\\^]{1,2000}/gi;

/** Punctuation that ends a sentence rather than an address. */
const TRAILING = /[.,;:!?*_~]{1,100}$/;

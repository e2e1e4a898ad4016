import { MAX_LOOKED_AT, says } from '#core/execution/results/index.ts';
import type { Db } from '#lib/database/index.ts';
import { afterCursor, cutPage } from '#lib/paging.ts';
import { chosenBy, newestRuns, summaryColumns, type RunFilter } from './queries.ts';
import type { RunSummary } from './run.ts';

interface RunPage {
  readonly found: readonly RunSummary[];
  readonly nextCursor: string | undefined;
}

export async function listRuns(
  db: Db,
  projectId: string,
  { q, ...filter }: RunFilter & { readonly q?: string | undefined },
): Promise<RunPage> {
  if (q !== undefined) return searchRuns(db, projectId, filter, q);
  const { items, nextCursor } = cutPage(await newestRuns(db, projectId, filter), filter.page);
  return { found: items, nextCursor };
}

/**
 * Lists the runs that contain a text. A page examines a bounded number of runs, so it may have fewer entries than its
 * limit.
 */
async function searchRuns(db: Db, projectId: string, filter: RunFilter, q: string): Promise<RunPage> {
  const { page } = filter;
  const { column, conditions } = chosenBy(projectId, filter);
  const rows = await db.plannedRows<RunSummary & { last: string | null }>`
    with looked_at as materialized (
      select * from runs where ${conditions} ${afterCursor(page)} order by ${column}, id desc limit ${MAX_LOOKED_AT}
    )
    select last.id as last, found.*
    from (select case when count(*) = ${MAX_LOOKED_AT} then min(id) end as id from looked_at) last
    left join (
      select ${summaryColumns} from looked_at runs where ${says(q, 'runs')} order by id desc limit ${page.limit + 1}
    ) found on true
    order by found.id desc
  `;
  const all = rows.filter(({ id }) => id !== null);
  const found = all.slice(0, page.limit).map(({ last: _last, ...run }) => run);
  const nextCursor = all.length > page.limit ? found.at(-1)?.id : rows[0]?.last;
  return { found, nextCursor: nextCursor ?? undefined };
}

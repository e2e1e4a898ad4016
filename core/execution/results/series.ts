import { isDeepStrictEqual } from 'node:util';
import type { ResultKey } from '#core/authoring/definition/index.ts';
import type { ExactNumber } from '#lib/exact-json/parse.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { pointerTokens } from '#lib/json.ts';

export const MAX_RUNS_OF_SERIES = 100;
const MAX_FIELDS = 20;
const MAX_ITEMS = 200;

type Numeric = number | ExactNumber;

/** One number of each item over the runs of a routine. */
export interface Series {
  /** The key of the newest run; null if its data as a whole is the only item. */
  readonly by: ResultKey | null;
  /** Names of the numbers that the items have, the most frequent first. */
  readonly fields: readonly string[];
  /** The number that is read; null if there is none. */
  readonly field: string | null;
  /** The runs, oldest first. */
  readonly runs: readonly { readonly id: string; readonly at: Date }[];
  /** The items, those of the newest runs first. */
  readonly items: readonly {
    readonly key: string | Numeric | boolean | null;
    /** One value for each run; null if the item has no such number in that run. */
    readonly values: readonly (Numeric | null)[];
  }[];
  /** True when further items are left out. */
  readonly truncated: boolean;
}

export interface SeriesOf {
  readonly projectId: string;
  readonly routineId: string;
  /** Name of the number to read; undefined for the most frequent. */
  readonly field: string | undefined;
  /** Key of the item to read, as text; undefined reads all items. */
  readonly key: string | undefined;
  /** Id of the last run that counts. */
  readonly upTo: string | undefined;
  readonly limit: number;
}

/**
 * Reads a number of each item over the latest runs with data. Runs whose items have another key than the items of the
 * newest run are left out.
 */
export async function readSeries(db: Db, of: SeriesOf): Promise<Series> {
  const all = await findRuns(db, of);
  const by = all[0]?.by ?? null;
  const runs = all.filter((run) => isDeepStrictEqual(run.by, by)).toReversed();
  const found = await db.plannedRows<{
    fields: string[];
    field: string | null;
    key: string | Numeric | boolean | null;
    values: Record<string, Numeric> | null;
  }>`
    with items as materialized (
      select runs.id, ${by === null ? sql`null::jsonb` : sql`item #> ${pointerTokens(by.key)}::text[]`} as key, item
      from runs
      cross join lateral jsonb_array_elements(${listIn(by)}) item
      where id = any(${runs.map(({ id }) => id)}::text[]) and project_id = ${of.projectId}
        and jsonb_typeof(item) = 'object'
    ),
    fields as (
      select name, row_number() over (order by count(*) desc, length(name), name) as place
      from items, jsonb_each(item) member(name, value)
      where jsonb_typeof(value) = 'number' and name is distinct from ${keyNameOf(by)}::text
      group by name order by place limit ${MAX_FIELDS}
    ),
    chosen as (select coalesce(${of.field ?? null}::text, (select name from fields where place = 1)) as field),
    series as (
      select key, jsonb_object_agg(id, item -> field) as values, max(id) as last from items, chosen
      where jsonb_typeof(item -> field) = 'number'
        and (${of.key ?? null}::text is null or key #>> '{}' = ${of.key ?? null})
      group by key order by last desc, key limit ${MAX_ITEMS + 1}
    )
    select field, key, values, array(select name from fields order by place) as fields
    from chosen left join series on true
    order by last desc, key
  `;
  const items = found.flatMap(({ key, values }) =>
    values === null ? [] : [{ key, values: runs.map(({ id }) => values[id] ?? null) }],
  );
  return {
    by,
    fields: found[0]?.fields ?? [],
    field: found[0]?.field ?? null,
    runs,
    items: items.slice(0, MAX_ITEMS),
    truncated: items.length > MAX_ITEMS,
  };
}

function findRuns(db: Db, { projectId, routineId, upTo, limit }: SeriesOf) {
  return db.plannedRows<{ id: string; at: Date; by: ResultKey | null }>`
    select id, coalesce(started_at, created_at) as at, changes->'by' as by from runs
    where routine_id = ${routineId} and project_id = ${projectId} and data is not null
      and trigger <> 'rehearsal' and (${upTo ?? null}::text is null or compared_at <= (
        select compared_at from runs where id = ${upTo ?? null} and project_id = ${projectId}))
    order by compared_at desc limit ${limit}
  `;
}

function listIn(by: ResultKey | null): Sql {
  if (by === null) return sql`jsonb_build_array(data)`;
  const list = sql`data #> ${pointerTokens(by.list)}::text[]`;
  return sql`case when jsonb_typeof(${list}) = 'array' then ${list} else '[]'::jsonb end`;
}

function keyNameOf(by: ResultKey | null): string | null {
  const [name, ...others] = by === null ? [] : pointerTokens(by.key);
  return name === undefined || others.length > 0 ? null : name;
}

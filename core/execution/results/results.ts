import {
  NO_CHANGES,
  urgencyOf,
  type ComparedResult,
  type Outcome,
  type Urgency,
} from '#core/authoring/outcomes/index.ts';
import type { Trigger } from '#core/execution/run-states/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { empty, ownedBy, raw, sql, type Db, type Sql } from '#lib/database/index.ts';
import { findLineChanges, type LineChanges } from '#lib/line-changes.ts';
import type { Page } from '#lib/paging.ts';
import { cut } from '#lib/text.ts';
import { unreadBy, type Reader } from './marks.ts';

/** Kinds of results, by their difference from the previous result, with their meanings. */
export const RESULT_KINDS = {
  failed: 'the run failed',
  partial: 'the result says that a part of the work is missing',
  first: 'the first result of its routine',
  changed: 'the result differs from the previous one',
  unchanged: 'the result says that there is nothing to report, or the same as the previous one',
} as const;

export type ResultKind = keyof typeof RESULT_KINDS;

/** An ended run as news: its outcome, the beginning of its result, and the differences. */
export interface Result {
  /** Id of the run. */
  readonly id: string;
  readonly routineId: string;
  readonly routineName: string;
  readonly kind: ResultKind;
  readonly trigger: Trigger;
  readonly state: 'succeeded' | 'failed';
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly outcome: Outcome | null;
  readonly outcomeSummary: string | null;
  readonly urgency: Urgency | null;
  /** The beginning of the text, in whole lines if they are short; null without a text. */
  readonly excerpt: string | null;
  /** True when the text continues after the excerpt. */
  readonly goesOn: boolean;
  /** Changes of the data, with the first items of each kind; null without data. */
  readonly changes: Pick<ComparedResult, 'against' | 'by' | 'counts' | 'added' | 'removed' | 'changed'> | null;
  /** Changes of the text against the previous text; null with data, and without a previous text. */
  readonly lines: LineChanges | null;
  /** The run with the previous result, if there is one. */
  readonly previousRunId: string | null;
  /** Cost in US dollars as a decimal string. */
  readonly costUsd: string | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date;
  readonly unread: boolean;
  /** The first later success of the routine with another text, which makes this result out of date. */
  readonly overtakenBy: Overtaking | null;
}

/** The run whose result ended an episode: an episode is consecutive results of a routine that say the same. */
interface Overtaking {
  readonly runId: string;
  readonly finishedAt: Date;
  readonly outcome: Outcome;
  readonly outcomeSummary: string | null;
  /** The beginning of the later result. */
  readonly resultPreview: string | null;
  /** True when the later run executed another version of the routine: its result may then cover something else. */
  readonly versionChanged: boolean;
}

export interface ResultFilter {
  /** Only results that ended at this time or later. */
  readonly since: Date | undefined;
  /** Only results that ended before this time. */
  readonly until?: Date | undefined;
  readonly unread: boolean | undefined;
  /** A part of the routine's name, the result's text or the run's summary; upper or lower case does not matter. */
  readonly q?: string | undefined;
  /** True selects all kinds but `unchanged`; false selects `unchanged` alone. */
  readonly worthReading: boolean | undefined;
  readonly page: Page;
}

/** Number of runs that one page of a search, a filter or a count examines. */
export const MAX_LOOKED_AT = 1_000;

/** Number of characters of a result that are searched. */
const SEARCHED = 20_000;

const EXCERPT = 600;
/** Number of characters of each text that are compared. */
const COMPARED = 20_000;
const ITEMS_OF_A_KIND = 5;

interface Found extends Omit<Result, 'excerpt' | 'goesOn' | 'lines' | 'urgency'> {
  readonly statedUrgency: Urgency | null;
  readonly text: string | null;
  readonly before: string | null;
}

/**
 * Lists the results of a project by their ends, the latest first. The number of examined results is bounded, so a page
 * with a filter may have fewer results than its limit, or none, while later pages have more.
 */
export async function listResults(
  db: Db,
  reader: Reader,
  filter: ResultFilter,
): Promise<{ results: Result[]; nextCursor: string | undefined }> {
  const { page, worthReading, q } = filter;
  const byKind = worthReading === undefined ? empty : sql`and (kind <> 'unchanged') = ${worthReading}::boolean`;
  const byText = q === undefined ? empty : sql`and ${says(q, 'classified')}`;
  const looked = worthReading === undefined && q === undefined ? page.limit : MAX_LOOKED_AT;
  const found = await db.plannedRows<{ last: string | null } & Found>`
    with ${lookAt(reader, filter, looked + 1)},
    chosen as (
      select * from classified where true ${byKind} ${byText} order by finished_at desc, id desc limit ${page.limit + 1}
    )
    select last.id as last, chosen.id, chosen.routine_id as "routineId", routines.name as "routineName", kind, trigger,
      chosen.state, reason, error_message as "errorMessage",
      case when chosen.state = 'succeeded' then coalesce(outcome, 'done') end as outcome,
      outcome_summary as "outcomeSummary", urgency as "statedUrgency", left(result, ${COMPARED}) as text,
      case when changes is not null then jsonb_build_object('against', compared_with, 'by', changes->'by',
        'counts', changes->'counts', 'added', ${firstOf('added')}, 'removed', ${firstOf('removed')},
        'changed', ${firstOf('changed')}) end as changes,
      case when data is null and kind = 'changed' then left(previous_result, ${COMPARED}) end as before,
      previous_id as "previousRunId", trim_scale(cost_usd)::text as "costUsd", started_at as "startedAt",
      finished_at as "finishedAt", unread, overtaking.run as "overtakenBy"
    from (
      select case when count(*) > ${looked} then (
        select id from looked_at order by finished_at desc, id desc offset ${looked - 1} limit 1
      ) end as id from looked_at
    ) last
    left join chosen on true
    left join routines on routines.id = chosen.routine_id and routines.project_id = ${reader.projectId}
    left join lateral (${overtaking(reader)}) overtaking on true
    order by finished_at desc, chosen.id desc
  `;
  const all = found.filter(({ id }) => id !== null);
  const results = all.slice(0, page.limit);
  const nextCursor = all.length > page.limit ? results.at(-1)?.id : found[0]?.last;
  return { results: results.map(withTexts), nextCursor: nextCursor ?? undefined };
}

/** Number of later results that are searched for a different text. */
const MAX_LATER = 100;

/**
 * Selects the run that has overtaken a row of `chosen`. An unchanged result is never overtaken. Lengths are compared
 * first, because they are known without unpacking the text.
 */
function overtaking({ projectId }: Reader): Sql {
  return sql`
      select jsonb_build_object('runId', later.id, 'finishedAt', later.finished_at,
        'outcome', coalesce(later.outcome, 'done'), 'outcomeSummary', later.outcome_summary,
        'resultPreview', left(later.result, 200),
        'versionChanged', later.routine_revision <> chosen.routine_revision) as run
      from (
        select * from runs
        where chosen.kind <> 'unchanged' and ${ownedBy(sql`routine_id`, sql`chosen.routine_id`)}
          and project_id = ${projectId} and state = 'succeeded' and id > chosen.id
          and trigger <> 'backfill' and ${isWork(sql`trigger`)}
        order by routine_id desc, id limit ${MAX_LATER}
      ) later
      where later.finished_at > chosen.finished_at and (
        chosen.state = 'failed' or coalesce(later.outcome, 'done') <> coalesce(chosen.outcome, 'done')
        or case when later.changes is not null and chosen.changes is not null
          then later.compared_with is null or later.changes->'counts' <> ${NO_CHANGES}::jsonb
          else octet_length(later.result) is distinct from octet_length(chosen.result)
            or later.result is distinct from chosen.result end)
      order by later.id limit 1`;
}

function firstOf(items: 'added' | 'removed' | 'changed'): Sql {
  return raw(`jsonb_path_query_array(changes, '$.${items}[0 to ${ITEMS_OF_A_KIND - 1}]')`);
}

/** Counts of the results that a reader has not read yet. */
export interface Unread {
  readonly worthReading: number;
  readonly worthReadingRoutines: number;
  readonly unchanged: number;
  readonly unchangedRoutines: number;
  /** True when more results may be unread: only the {@link MAX_LOOKED_AT} newest are counted. */
  readonly more: boolean;
  /** Time at which the newest unread result ended; null if all are read. */
  readonly until: Date | null;
  /** Time up to which the reader has marked all results as read; null if the reader never did. */
  readonly readUntil: Date | null;
}

/** Counts the unread results of a reader: the newest results, or the results of a period. */
export async function countUnread(
  db: Db,
  reader: Reader,
  { since, until }: Pick<ResultFilter, 'until'> & { readonly since?: Date } = {},
): Promise<Unread> {
  const filter = { since, until, unread: true, page: { limit: MAX_LOOKED_AT, after: undefined } };
  const [counts] = await db.plannedRows<Unread>`
    with ${lookAt(reader, filter, MAX_LOOKED_AT)}
    select count(*) filter (where kind <> 'unchanged')::integer as "worthReading",
      count(distinct routine_id) filter (where kind <> 'unchanged')::integer as "worthReadingRoutines",
      count(*) filter (where kind = 'unchanged')::integer as unchanged,
      count(distinct routine_id) filter (where kind = 'unchanged')::integer as "unchangedRoutines",
      count(*) = ${MAX_LOOKED_AT} as more, max(finished_at) as until,
      (select read_until from result_readers
        where project_id = ${reader.projectId} and reader_id = ${reader.readerId}) as "readUntil"
    from classified
  `;
  if (counts === undefined) throw new Error('an aggregate has one row');
  return counts;
}

/**
 * Writes the CTEs `looked_at`, the newest results of the filter, and `classified`, the same results with kind and
 * previous result.
 */
function lookAt(
  reader: Reader,
  { since, until, unread, page }: Omit<ResultFilter, 'worthReading'>,
  count: number,
): Sql {
  const { projectId } = reader;
  const isUnread = unreadBy(reader);
  const later =
    page.after === undefined
      ? empty
      : sql`and (finished_at, id) < (
          select finished_at, id from runs where id = ${page.after} and project_id = ${projectId})`;
  return sql`
    looked_at as (
      select *, ${isUnread} as unread from runs
      where ${ownedBy(sql`project_id`, projectId)} and state in ('succeeded', 'failed') and content_erased_at is null
        and ${isWork(sql`trigger`)}
        ${since === undefined ? empty : sql`and finished_at >= ${since}`}
        ${until === undefined ? empty : sql`and finished_at < ${until}`}
        ${unread === undefined ? empty : sql`and ${isUnread} = ${unread}::boolean`} ${later}
      order by project_id, finished_at desc, id desc limit ${count}
    ),
    classified as (
      select looked_at.*, previous.id as previous_id, previous.result as previous_result,
        case when looked_at.state = 'failed' then 'failed'
          when looked_at.outcome = 'partial' then 'partial'
          when looked_at.outcome = 'nothing_to_report' then 'unchanged'
          when previous.id is null then 'first'
          when looked_at.changes is not null then
            case when compared_with is not null and looked_at.changes->'counts' = ${NO_CHANGES}::jsonb then 'unchanged'
              else 'changed' end
          -- The length is known without unpacking the text.
          when octet_length(looked_at.result) = octet_length(previous.result) and looked_at.result = previous.result
            then 'unchanged'
          else 'changed' end as kind
      from looked_at
      left join lateral (
        select id, result from runs
        where ${ownedBy(sql`routine_id`, sql`looked_at.routine_id`)} and project_id = ${projectId}
          and state = 'succeeded' and id < looked_at.id and ${isWork(sql`trigger`)}
        order by routine_id, id desc limit 1
      ) previous on true
    )
  `;
}

function withTexts({ text, before, overtakenBy, ...found }: Found): Result {
  const excerpt = text === null ? null : beginningOf(text);
  return {
    ...found,
    urgency: urgencyOf(found),
    overtakenBy: overtakenBy && { ...overtakenBy, finishedAt: new Date(overtakenBy.finishedAt) },
    excerpt,
    goesOn: text !== null && excerpt !== text,
    lines: text === null || before === null ? null : findLineChanges(before, text),
  };
}

function beginningOf(text: string): string {
  if (text.length <= EXCERPT) return text;
  const end = text.lastIndexOf('\n', EXCERPT);
  return cut(text, end > EXCERPT / 3 ? end : EXCERPT);
}

/**
 * Returns the condition that a text of a run contains `q`, ignoring upper and lower case; `%` and `_` are ordinary
 * characters.
 */
export function says(q: string, runs: 'runs' | 'classified'): Sql {
  const table = raw(runs);
  return sql`position(lower(${q}) in lower(concat_ws(' ',
    (select name from routines where id = ${table}.routine_id and project_id = ${table}.project_id),
    ${table}.outcome_summary, ${table}.error_message, left(${table}.result, ${SEARCHED})))) > 0`;
}

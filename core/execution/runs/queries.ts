import { listMessages } from '#core/foundation/outbox/index.ts';
import { readVersion } from '#core/authoring/routines/index.ts';
import { listChatDeliveries } from '#core/delivery/chats/index.ts';
import { listDeliveries } from '#core/delivery/webhooks/index.ts';
import type { Outcome } from '#core/authoring/outcomes/index.ts';
import { isWork } from '#core/foundation/engine/index.ts';
import { join, ownedBy, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { firstIdAt } from '#lib/ids.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { type Admission, waitsForBudget, waitsForConnection, waitOf } from '#core/execution/admission/index.ts';
import { isEndState, type RunState, type Trigger } from '#core/execution/run-states/index.ts';
import {
  type Answer,
  comparedWith,
  type Nearby,
  runColumns,
  shortColumns,
  type Run,
  type RunDetail,
  type RunSummary,
} from './run.ts';
import { readAllSteps } from './read-steps.ts';

const PREVIEW_LENGTH = 200;

const routineName = sql`(select r.name from routines r
  where r.id = runs.routine_id and r.project_id = runs.project_id) as "routineName"`;

export const summaryColumns = sql`${shortColumns}, ${routineName}, left(result, ${PREVIEW_LENGTH}) as "resultPreview",
  case when changes is not null then jsonb_build_object('counts', changes->'counts') || ${comparedWith} end as changes`;

export interface RunFilter {
  readonly routineId?: string | undefined;
  readonly state?: RunState | undefined;
  readonly trigger?: Trigger | undefined;
  readonly outcome?: Outcome | undefined;
  readonly backfillId?: string | undefined;
  /** Limits of `createdAt`: at or after `since`, before `until`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly page: Page;
}

/** Reads one run more than the page has, to see whether another page follows. */
export function newestRuns(db: Db, projectId: string, filter: RunFilter): Promise<RunSummary[]> {
  const { column, conditions } = chosenBy(projectId, filter);
  // Plan a query with a window of time for its own values, because they decide how much of the index is read.
  const isWindow = filter.since !== undefined || filter.until !== undefined;
  return db[isWindow ? 'plannedRows' : 'rows']<RunSummary>`
    select ${summaryColumns} from runs
    where ${conditions} ${afterCursor(filter.page)}
    order by ${column}, id desc limit ${filter.page.limit + 1}
  `;
}

/** Returns the condition of a filter, and the first column of the order. */
export function chosenBy(projectId: string, filter: RunFilter): { readonly column: Sql; readonly conditions: Sql } {
  const { routineId } = filter;
  const conditions = [
    // Begin with the owner, because only an index that begins with the owner serves these filters.
    ...(routineId === undefined
      ? [ownedBy(sql`project_id`, projectId)]
      : [sql`project_id = ${projectId}`, ownedBy(sql`routine_id`, routineId)]),
    ...(filter.state === undefined ? [] : [BY_STATE[filter.state]]),
    ...(filter.trigger === undefined ? [] : [BY_TRIGGER[filter.trigger]]),
    ...(filter.outcome === undefined ? [] : [BY_OUTCOME[filter.outcome]]),
    ...(filter.backfillId === undefined ? [] : [sql`backfill_id = ${filter.backfillId}`]),
    ...(filter.since === undefined ? [] : [createdFrom(filter.since)]),
    ...(filter.until === undefined ? [] : [createdBefore(filter.until)]),
  ];
  return { column: routineId === undefined ? sql`project_id` : sql`routine_id`, conditions: join(conditions, ' and ') };
}

/** Conditions with literals, so that Postgres reads the few runs in a rare state from their partial index. */
const BY_STATE: Readonly<Record<RunState, Sql>> = {
  queued: sql`state = 'queued'`,
  running: sql`state = 'running'`,
  succeeded: sql`state = 'succeeded'`,
  failed: sql`state = 'failed'`,
  cancelled: sql`state = 'cancelled'`,
  skipped: sql`state = 'skipped'`,
};
const BY_OUTCOME: Readonly<Record<Outcome, Sql>> = {
  // Do not use `coalesce`: Postgres would then expect few matches, and read all rows.
  done: sql`state = 'succeeded' and (outcome is null or outcome = 'done')`,
  nothing_to_report: sql`outcome = 'nothing_to_report'`,
  partial: sql`outcome = 'partial'`,
};
const BY_TRIGGER = {
  manual: sql`trigger = 'manual'`,
  schedule: sql`trigger = 'schedule'`,
  backfill: sql`trigger = 'backfill'`,
  follow_up: sql`trigger = 'follow_up'`,
  rehearsal: sql`trigger = 'rehearsal'`,
};

/**
 * Limits the id as well as the time, so that the scan of the index ends there: a window a week ago among a million runs
 * then takes 3 ms instead of 170 ms. The limit of the id is wider: under a repeated `Idempotency-Key` an id is up to a
 * day older than its row, and the clock that made it may be a little ahead.
 */
function createdFrom(since: Date): Sql {
  const earliest = firstIdAt('run', new Date(since.getTime() - 25 * 3_600_000));
  return sql`created_at >= ${since} and id >= ${earliest}`;
}

function createdBefore(until: Date): Sql {
  const latest = firstIdAt('run', new Date(until.getTime() + 10 * 60_000));
  return sql`created_at < ${until} and id < ${latest}`;
}

export function findRun(db: Db, projectId: string, id: string): Promise<Run | undefined> {
  return db.row<Run>`select ${runColumns} from runs where id = ${id} and project_id = ${projectId}`;
}

/** Reads a run. @throws {AppError} `run_not_found` */
export async function readRun(db: Db, projectId: string, id: string): Promise<Run> {
  const run = await findRun(db, projectId, id);
  if (run === undefined) throw new AppError('run_not_found');
  return run;
}

/**
 * Reads a run that has a result, with its routine's name and the schema of its data, and no steps.
 * @throws {AppError} `run_not_found`, `run_not_finished`, `content_erased`, `run_without_result`
 */
export async function readEndedResult(
  db: Db,
  projectId: string,
  id: string,
): Promise<Run & Pick<RunDetail, 'routineName' | 'resultSchema'>> {
  const run = await db.row<Run & Pick<RunDetail, 'routineName'>>`
    select ${runColumns}, ${routineName} from runs
    where id = ${id} and project_id = ${projectId}
  `;
  if (run === undefined) throw new AppError('run_not_found');
  assertHasResult(run);
  return { ...run, resultSchema: run.data === null ? null : await schemaOf(db, run) };
}

/** @throws {AppError} `run_not_finished`, `content_erased`, `run_without_result` */
export function assertHasResult(run: Run): void {
  assertEndedWithContent(run);
  if (run.result === null) throw new AppError('run_without_result');
}

/** @throws {AppError} `run_not_finished`, `content_erased` */
export function assertEndedWithContent({ state, contentErasedAt }: Pick<Run, 'state' | 'contentErasedAt'>): void {
  if (!isEndState(state)) throw new AppError('run_not_finished');
  if (contentErasedAt !== null) throw new AppError('content_erased');
}

/** Reads a run with its steps, webhook deliveries, mails and pings. @throws {AppError} `run_not_found` */
export async function readRunDetail(
  { database: db, admission }: { readonly database: Db; readonly admission: Pick<Admission, 'rule'> },
  projectId: string,
  id: string,
): Promise<RunDetail> {
  const run = await db.row<
    Run &
      Nearby &
      Pick<RunDetail, 'routineName' | 'prompt' | 'briefing' | 'factsVersion' | 'gate' | 'queuedSeconds'> & {
        waits: boolean;
        hasChats: boolean;
        hasFollowUps: boolean;
      }
  >`
    select ${runColumns}, ${routineName}, prompt, briefing, facts_version as "factsVersion", gate,
    ${queuedSeconds} as "queuedSeconds", (${waitsForBudget} or ${waitsForConnection}) as waits,
    exists (select from chat_deliveries c where c.run_id = runs.id) as "hasChats",
    exists (select from runs f where f.follows_up = runs.id and f.project_id = runs.project_id) as "hasFollowUps",
    nearby.*
    from runs cross join lateral ${nearby}
    where id = ${id} and project_id = ${projectId}
  `;
  if (run === undefined) throw new AppError('run_not_found');
  const [{ steps, leftOutFrom }, deliveries, chatDeliveries, messages] = [
    await readAllSteps(db, { projectId, runId: id }),
    await listDeliveries(db, id),
    run.hasChats ? await listChatDeliveries(db, id) : [],
    await listMessages(db, id),
  ];
  const waits = run.state === 'queued' || run.waits;
  const waitingFor = waits ? await waitOf(db, admission.rule, id) : null;
  const followUps = run.hasFollowUps ? await listFollowUps(db, run) : [];
  const resultSchema = run.data === null ? null : await schemaOf(db, run);
  const texts = { steps, textsLeftOutFrom: leftOutFrom };
  return { ...run, resultSchema, waitingFor, ...texts, deliveries, chatDeliveries, messages, followUps };
}

/**
 * Selects one row, `nearby`: the results before and after a run. Successes are entries of the index by state. Failures
 * are searched only between the run and the nearest success, because most failures have no result and a routine may
 * have thousands.
 */
const nearby = sql`
  (select good.before as "lastGoodRunId",
    coalesce((select o.id from runs o where o.routine_id = runs.routine_id and o.project_id = runs.project_id
      and ${isWork(sql`o.trigger`)} and o.state = 'failed' and o.result is not null
      and o.id < runs.id and o.id > coalesce(good.before, '')
      order by o.id desc limit 1), good.before) as "previousResultId",
    coalesce((select o.id from runs o where o.routine_id = runs.routine_id and o.project_id = runs.project_id
      and ${isWork(sql`o.trigger`)} and o.state = 'failed' and o.result is not null
      and o.id > runs.id and (good.after is null or o.id < good.after)
      order by o.id limit 1), good.after) as "nextResultId"
  from (select
    (select o.id from runs o where o.routine_id = runs.routine_id and o.project_id = runs.project_id
      and ${isWork(sql`o.trigger`)} and o.state = 'succeeded' and o.id < runs.id order by o.id desc limit 1) as before,
    (select o.id from runs o where o.routine_id = runs.routine_id and o.project_id = runs.project_id
      and ${isWork(sql`o.trigger`)} and o.state = 'succeeded' and o.id > runs.id order by o.id limit 1) as after
  ) good) nearby`;

/** Number of the latest questions about a result that its page shows. */
const MOST_FOLLOW_UPS = 50;

async function listFollowUps(db: Db, { id, projectId }: Run): Promise<readonly Answer[]> {
  const found = await db.rows<Answer>`
    select id, message, state, error_message as "errorMessage", result, created_at as "createdAt" from runs
    where follows_up = ${id} and project_id = ${projectId} order by id desc limit ${MOST_FOLLOW_UPS}
  `;
  return found.toReversed();
}

async function schemaOf(db: Db, { projectId, routineId, routineRevision }: Run): Promise<RunDetail['resultSchema']> {
  try {
    return (await readVersion(db, { projectId, id: routineId }, routineRevision)).resultSchema;
  } catch (error) {
    if (error instanceof AppError && error.code === 'version_not_found') return null;
    throw error;
  }
}

/**
 * Seconds that a run waited: from its creation, or from its requested time, to its first step, its end or now. Null for
 * a skipped occurrence.
 */
const queuedSeconds = sql`case when skipped_count is null then
  round(greatest(extract(epoch from coalesce(started_at, finished_at, now()) - coalesce(run_at, created_at)), 0),
  3)::float8
  end`;

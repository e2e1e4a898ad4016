import { isWork } from '#core/foundation/engine/index.ts';
import { listQuestions, type Question } from '#core/execution/questions/index.ts';
import { spentBudgets } from '#core/usage/index.ts';
import { ownedBy, sql, type Db } from '#lib/database/index.ts';

interface OfRoutine {
  readonly routineId: string;
  readonly routineName: string;
}

/** A routine whose latest ended run has failed. */
interface FailedRoutine extends OfRoutine {
  /** The latest failed run. */
  readonly runId: string;
  readonly reason: string | null;
  readonly errorMessage: string | null;
  readonly finishedAt: Date;
  /** Number of failed runs since `since`. */
  readonly runs: number;
}

/** A routine whose latest run succeeded although every call to some connection's tools failed. */
interface RoutineWithoutTools extends OfRoutine {
  readonly runId: string;
  readonly finishedAt: Date;
}

/** A routine that the service has taken off its schedule. */
interface StoppedRoutine extends OfRoutine {
  readonly state: string;
  readonly reason: string;
  readonly updatedAt: Date;
}

/** A sign-in that has ended: of a personal account at a model provider, or of a connection to tools. */
interface EndedSignIn {
  readonly kind: 'model_account' | 'connection';
  readonly id: string;
  readonly name: string;
  /** The person who can sign in again; null when any member can. */
  readonly ownerId: string | null;
  readonly ownerName: string | null;
  readonly updatedAt: Date;
}

/** An active routine whose scheduled runs use an older revision of a skill. */
interface RoutineBehind extends OfRoutine {
  /** Names of the skills. */
  readonly skills: readonly string[];
}

/** A run whose held calls wait for a person. */
interface HoldingRun extends OfRoutine {
  readonly runId: string;
  /** The first open action of the run. */
  readonly actionId: string;
  /** Number of open actions of the run. */
  readonly calls: number;
  /** Names of the called tools, each once. */
  readonly toolNames: readonly string[];
  /** Time at which the first open action expires. */
  readonly expiresAt: Date;
}

/** Everything in a project that a person has to mend. */
export interface Attention {
  readonly held: readonly HoldingRun[];
  readonly stopped: readonly StoppedRoutine[];
  readonly failed: readonly FailedRoutine[];
  readonly withoutTools: readonly RoutineWithoutTools[];
  readonly signIns: readonly EndedSignIn[];
  readonly budgets: Awaited<ReturnType<typeof spentBudgets>>;
  readonly skillsBehind: readonly RoutineBehind[];
  /** Open questions of runs. */
  readonly questions: readonly Question[];
  /** True when a kind has more entries than are listed. */
  readonly truncated: boolean;
}

/** The most entries of each kind. One more entry is read, which shows whether there are more. */
const MOST = 20;
const LIMIT = MOST + 1;
/** Number of the newest failed runs that are examined. */
const MOST_FAILED_RUNS = 1_000;
/** A budget needs attention once this share of it is spent. */
const NEARLY_SPENT_PERCENT = 80;

/**
 * Reads the entries that need attention in a project. Each statement reads an index, and its cost is bounded by the
 * project's routines.
 * @param since earlier failures are left out
 */
export async function readAttention(
  db: Db,
  ids: { readonly projectId: string; readonly organizationId: string },
  since: Date,
): Promise<Attention> {
  const { projectId } = ids;
  const found = {
    held: await holdingRuns(db, projectId),
    stopped: await stoppedRoutines(db, projectId),
    failed: await failedRoutines(db, projectId, since),
    withoutTools: await routinesWithoutTools(db, projectId, since),
    signIns: await endedSignIns(db, projectId),
    budgets: await spentBudgets(db, ids, { percent: NEARLY_SPENT_PERCENT, limit: LIMIT }),
    skillsBehind: await routinesBehind(db, projectId),
    questions: await listQuestions(db, projectId, { state: 'open', page: { limit: MOST, after: undefined } }),
  };
  return {
    held: found.held.slice(0, MOST),
    stopped: found.stopped.slice(0, MOST),
    failed: found.failed.slice(0, MOST),
    withoutTools: found.withoutTools.slice(0, MOST),
    signIns: found.signIns.slice(0, MOST),
    budgets: found.budgets.slice(0, MOST),
    skillsBehind: found.skillsBehind.slice(0, MOST),
    questions: found.questions.slice(0, MOST),
    truncated: Object.values(found).some(({ length }) => length > MOST),
  };
}

function holdingRuns(db: Db, projectId: string): Promise<HoldingRun[]> {
  return db.rows`
    select a.routine_id as "routineId", r.name as "routineName", a.run_id as "runId", min(a.id) as "actionId",
      count(*)::integer as calls, array_agg(distinct a.tool_name) as "toolNames", min(a.expires_at) as "expiresAt"
    from actions a join routines r on r.id = a.routine_id and r.project_id = a.project_id
    where a.project_id = ${projectId} and a.state = 'open'
    group by a.routine_id, r.name, a.run_id order by min(a.expires_at), a.run_id limit ${LIMIT}
  `;
}

function stoppedRoutines(db: Db, projectId: string): Promise<StoppedRoutine[]> {
  return db.rows`
    select id as "routineId", name as "routineName", state, state_reason as reason, updated_at as "updatedAt"
    from routines where project_id = ${projectId} and state_reason is not null
    order by id desc limit ${LIMIT}
  `;
}

/** Finds failures without a later success. Routines that the service has stopped have separate entries. */
function failedRoutines(db: Db, projectId: string, since: Date): Promise<FailedRoutine[]> {
  return db.rows`
    with failed as (
      select id, routine_id, reason, error_message, finished_at from runs
      where ${ownedBy(sql`project_id`, projectId)} and state = 'failed' and ${isWork(sql`trigger`)}
      order by project_id, state, id desc limit ${MOST_FAILED_RUNS}
    ), latest as (
      select distinct on (routine_id) routine_id, id, reason, error_message, finished_at,
        count(*) over (partition by routine_id)::integer as runs
      from failed where finished_at >= ${since} order by routine_id, id desc
    )
    select r.id as "routineId", r.name as "routineName", latest.id as "runId", latest.reason,
      latest.error_message as "errorMessage",
      latest.finished_at as "finishedAt", latest.runs
    from latest join routines r on r.id = latest.routine_id and r.project_id = ${projectId}
    where r.state <> 'archived' and r.state_reason is null and not exists (
      select from runs later
      where ${ownedBy(sql`later.routine_id`, sql`latest.routine_id`)} and later.project_id = ${projectId}
        and later.state = 'succeeded' and later.id > latest.id and ${isWork(sql`later.trigger`)}
    )
    order by latest.finished_at desc limit ${LIMIT}
  `;
}

/** Finds routines whose latest run missed tools or texts. Only runs that have succeeded or failed count. */
function routinesWithoutTools(db: Db, projectId: string, since: Date): Promise<RoutineWithoutTools[]> {
  return db.rows`
    select r.id as "routineId", r.name as "routineName", latest.id as "runId", latest.finished_at as "finishedAt"
    from routines r cross join lateral (
      select id, state, warnings, finished_at from runs
      where ${ownedBy(sql`routine_id`, sql`r.id`)} and project_id = ${projectId} and state in ('succeeded', 'failed')
        and ${isWork(sql`trigger`)}
      order by routine_id, id desc limit 1
    ) latest
    where r.project_id = ${projectId} and r.state <> 'archived' and latest.state = 'succeeded'
      and latest.warnings <> '{}' and latest.finished_at >= ${since}
    order by latest.finished_at desc limit ${LIMIT}
  `;
}

function endedSignIns(db: Db, projectId: string): Promise<EndedSignIn[]> {
  return db.rows`
    select 'model_account' as kind, a.id, a.provider_name as name, a.owner_id as "ownerId", u.name as "ownerName",
      a.updated_at as "updatedAt"
    from model_connections a left join users u on u.id = a.owner_id
    where a.project_id = ${projectId} and a.state in ('needs_reauthorization', 'plan_not_entitled')
    union all
    select 'connection', id, name, null, null, updated_at from connections
    where project_id = ${projectId} and state = 'needs_reauthorization'
    order by "updatedAt" desc limit ${LIMIT}
  `;
}

function routinesBehind(db: Db, projectId: string): Promise<RoutineBehind[]> {
  return db.rows`
    select r.id as "routineId", r.name as "routineName", behind.skills
    from routines r join routine_versions v on v.routine_id = r.id and v.revision = r.revision
    cross join lateral (
      select array_agg(s.name order by s.name) as skills from skills s
      where s.project_id = ${projectId} and s.deleted_at is null and r.skills ? s.id
        and s.revision > case when v.active_skills is null then 1 else (v.active_skills ->> s.id)::integer end
    ) behind
    where r.project_id = ${projectId} and r.state = 'active' and behind.skills is not null
      and r.skills ?| array(
        select id from skills where project_id = ${projectId} and revision > 1 and deleted_at is null)
    order by r.id desc limit ${LIMIT}
  `;
}

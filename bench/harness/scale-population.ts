import { admitRuns, recordStarts } from '#core/execution/admission/admit.ts';
import { newId } from '#lib/ids.ts';
import { openDatabase, sql, type Database, type Db } from '#lib/database/index.ts';
import type { Bench } from './benchmark.ts';
import { load, loadProject, loadRoutines, loadRuns, routineId } from './bulk.ts';

export const DUE = 1_000;
export const WAITING = 10_000;
export const ORGANIZATIONS = 100;
const ROUTINES = 10_000;

export interface Population {
  readonly url: string;
  readonly database: Database;
  readonly projectId: string;
  readonly organizationId: string;
}

/** The rule by which the runs of a population are admitted. */
export const RULE = {
  taskQueue: 'bench',
  planRule: { billingConfigured: false, defaultPlan: 'scale' },
  runsAtATimeOfAccounts: {},
} as const;

/** Loads a database with this number of runs in one project, and with routines of many organizations. */
export async function populate(stack: Pick<Bench['stack'], 'createDatabase'>, runs: number): Promise<Population> {
  const url = await stack.createDatabase();
  let projectId = '';
  await load(url, async (db) => {
    // All references are right by construction. Postgres would take longer to check a row than to insert it.
    await db.run`set session_replication_role = replica`;
    projectId = await loadProject(db, 1);
    await loadRoutines(db, { projectId, firstNumber: 0, count: ROUTINES });
    await loadRuns(db, { projectId, routines: ROUTINES, count: runs });
    await cancelHundred(db);
    for (let n = 0; n < ORGANIZATIONS; n += 1) {
      const project = await loadProject(db, 1_000 + n);
      const firstNumber = ROUTINES + n;
      await loadRoutines(db, { projectId: project, firstNumber, count: 1 });
    }
    await db.run`update routines set next_run_at = null where project_id <> ${projectId}`;
    await db.run`insert into worker_slots (worker_id, task_queue, slots, expires_at) values ('bench', ${RULE.taskQueue}, 1000000, 'infinity')`;
    await db.run`set session_replication_role = origin`;
  });
  const organization = await one<{ id: string }>(
    openedOnce(url),
    sql`select organization_id as id from projects where id = ${projectId}`,
  );
  return { url, database: openedOnce(url), projectId, organizationId: organization.id };
}

/**
 * Cancels a hundred runs of the first routine, spread over all its runs, so that both populations have one page of
 * them.
 */
async function cancelHundred(db: Db): Promise<void> {
  await db.run`
    update runs set state = 'cancelled' from (
      select id, row_number() over (order by id) as place, count(*) over () as total from runs
      where routine_id = ${routineId(0)}
    ) placed
    where runs.id = placed.id and place % (total / 100) = 0
  `;
}

/** Makes the same routines due each time, spread over the table, and ends the runs that they started before. */
export async function makeDue(population: Population): Promise<void> {
  const { database } = population;
  await clearWaiting(population);
  await database.run`delete from period_runs`;
  await database.run`
    update routines set next_run_at = now() - interval '1 second'
    where id = any(array(
      select 'rtn_' || lpad((n * ${ROUTINES / DUE}::bigint)::text, 26, '0')
      from generate_series(0, ${DUE}::bigint - 1) n
    ))
  `;
}

/** Inserts the same waiting runs each time, one for each organization in turn. */
export async function makeWaiting(population: Population): Promise<void> {
  const { database } = population;
  await clearWaiting(population);
  await database.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
      timeout_seconds)
    select 'run_7zzzzzzzzz' || lpad(n::text, 16, '0'), 'org_' || o.number, 'prj_' || o.number,
      'rtn_' || lpad((${ROUTINES}::bigint + n % ${ORGANIZATIONS}::bigint)::text, 26, '0'), 1, 'schedule', 'queued', 25, 900
    from generate_series(0, ${WAITING}::bigint - 1) n
    cross join lateral (
      select lpad((1000 + n % ${ORGANIZATIONS}::bigint)::text, 26, '0') as number
    ) o
    on conflict (id) do update set state = 'queued', admitted_at = null, start_leased_until = null
  `;
}

/** Ends every run that waits or runs. */
export async function clearWaiting({ database }: Population): Promise<void> {
  await database.run`update runs set state = 'succeeded' where state in ('queued', 'running')`;
}

/**
 * Vacuums after a preparation, because the preparation leaves more dead rows than a service does between two
 * autovacuums.
 */
export async function vacuum({ database }: Population): Promise<void> {
  await database.run`vacuum runs`;
}

/** Dead rows that each run leaves behind: one for each change of its state. */
const DEAD_ROWS = 4;
const PASSED_AT_ONCE = 100;

/**
 * Moves scheduled runs through all their states, and stops shortly before their dead rows would start autovacuum. All
 * runs belong to one organization, so each search for its next run reads past all dead rows.
 */
export async function letPass(population: Population): Promise<void> {
  await vacuum(population);
  const { database } = population;
  const { deadRows } = await one<{ deadRows: number }>(
    database,
    sql`
    with settings as (
      select reltuples, (select json_object_agg(option_name, option_value) from pg_options_to_table(reloptions)) as own
      from pg_class where oid = 'runs'::regclass
    )
    select coalesce(own ->> ${THRESHOLD}, current_setting(${THRESHOLD}))::float8
      + coalesce(own ->> ${FACTOR}, current_setting(${FACTOR}))::float8 * reltuples as "deadRows"
    from settings
  `,
  );
  const runs = Math.floor((deadRows * 0.9) / DEAD_ROWS);
  for (let passed = 0; passed < runs; passed += PASSED_AT_ONCE) {
    await enqueueScheduled(population, Math.min(PASSED_AT_ONCE, runs - passed));
    const admitted = await admitRuns(database, RULE, PASSED_AT_ONCE);
    const ids = admitted.map(({ id }) => id);
    await recordStarts(database, ids);
    await database.run`update runs set state = 'running', started_at = now() where id = any(${ids})`;
    await database.run`update runs set state = 'succeeded', finished_at = now() where id = any(${ids})`;
  }
}

const THRESHOLD = 'autovacuum_vacuum_threshold';
const FACTOR = 'autovacuum_vacuum_scale_factor';

/** Inserts queued scheduled runs into the project. */
export async function enqueueScheduled(
  { database, projectId, organizationId }: Population,
  count: number,
): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('run'));
  await database.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
      timeout_seconds, queue_until)
    select id, ${organizationId}, ${projectId}, ${routineId(2)}, 1, 'schedule', 'queued', 25, 900,
      now() + interval '6 hours'
    from unnest(${ids}::text[]) id
  `;
}

/** Describes the size of the table of runs. */
export async function sizes({ database }: Population): Promise<string> {
  const { total, heap, indexes } = await one<{ total: string; heap: string; indexes: string }>(
    database,
    sql`select pg_size_pretty(pg_total_relation_size('runs')) as total,
      pg_size_pretty(pg_table_size('runs')) as heap, pg_size_pretty(pg_indexes_size('runs')) as indexes`,
  );
  return `The table of runs has ${total}: ${heap} of rows, ${indexes} of indexes.`;
}

const databases = new Map<string, Database>();

function openedOnce(url: string): Database {
  const opened = databases.get(url) ?? openDatabase({ url, poolSize: 2, applicationName: 'bench' });
  databases.set(url, opened);
  return opened;
}

async function one<Row extends object>(database: Database, statement: ReturnType<typeof sql>): Promise<Row> {
  const found = await database.row<Row>`${statement}`;
  if (found === undefined) throw new Error('a row is missing');
  return found;
}

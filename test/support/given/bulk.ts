import pg from 'pg';
import { definitionForm } from '#core/authoring/definition/index.ts';
import { insertVersions } from '#core/authoring/routines/versions.ts';
import { sql, withStatements, type Db, type Sql } from '#lib/database/index.ts';

/**
 * Loads rows as the product writes them. Postgres itself makes the rows, so a million take seconds instead of minutes.
 * Afterwards the tables are vacuumed and analyzed, as by autovacuum in a service that has run for long.
 */
export async function load(databaseUrl: string, work: (db: Db) => Promise<void>): Promise<void> {
  const client = withStatements(new pg.Client({ connectionString: databaseUrl }));
  await client.connect();
  try {
    await work(client);
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Loads a project with its organization. The ids of both end in this number. */
export async function loadProject(db: Db, number: number): Promise<string> {
  const id = `prj_${digits(number)}`;
  const organization = `org_${digits(number)}`;
  await db.run`insert into organizations (id, name) values (${organization}, 'bench')`;
  await db.run`insert into projects (id, organization_id, name) values (${id}, ${organization}, 'bench')`;
  return id;
}

/** Returns the id of the loaded routine with this number. */
export function routineId(number: number): string {
  return `rtn_${digits(number)}`;
}

const DEFINED = definitionForm.write(
  definitionForm.read({
    instructions: 'Write one line about the weather, the news and the day, in plain words and without any list.',
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
  }).value,
);

/**
 * Loads active routines that run once a day. They are due at `dueAt`; without `dueAt`, at some time of the next day.
 */
export async function loadRoutines(
  db: Db,
  input: { projectId: string; firstNumber: number; count: number; dueAt?: Date },
): Promise<void> {
  const { projectId, firstNumber, count, dueAt } = input;
  const next: Sql =
    dueAt === undefined
      ? sql`now() + interval '30 minutes' + random() * interval '23 hours'`
      : sql`${dueAt}::timestamptz`;
  await db.run`
    with written as (
      insert into routines (id, project_id, name, definition, schedule, timezone, state, next_run_at)
      select 'rtn_' || lpad((${firstNumber}::bigint + n)::text, 26, '0'), ${projectId}, 'Routine ' || n,
        ${DEFINED}::jsonb, '0 7 * * *', 'UTC', 'active', ${next}
      from generate_series(0, ${count}::bigint - 1) n
      returning *
    )
    ${insertVersions({ actor: null })}
  `;
}

/**
 * Loads runs of a project, one a second until now or until some days ago: a third of them of its first routine, one in
 * ten failed, one in fifty thousand manual, one in ten thousand cancelled, the others scheduled and succeeded. Ids
 * contain their time, as real ids do.
 */
export async function loadRuns(
  db: Db,
  input: {
    projectId: string;
    routines: number;
    firstRoutine?: number;
    count: number;
    daysAgo?: number;
  },
): Promise<void> {
  const { projectId, routines, firstRoutine = 0, count, daysAgo = 0 } = input;
  await db.run`${TIME_ID}`;
  await db.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, prompt, model_provider, model_id,
      max_steps, timeout_seconds, result, step_count, input_tokens, output_tokens, cost_usd, created_at,
      workflow_started_at, started_at, finished_at)
    select 'run_' || bench_time_id(at) || lpad(n::text, 16, '0'),
      (select organization_id from projects where id = ${projectId}), ${projectId},
      'rtn_' || lpad((${firstRoutine}::bigint + case when n % 3 = 0 then 0 else 1 + n % (${routines}::bigint - 1) end)::text, 26, '0'),
      1, case when n % 50000 = 57 then 'manual' else 'schedule' end,
      case when n % 10000 = 5 then 'cancelled' when n / 7 % 10 = 3 then 'failed' else 'succeeded' end,
      'Write one line about the weather, the news and the day, in plain words and without any list.',
      'gateway', 'fixture/writer-small', 25, 900, 'It is mild, the news is calm and the day goes on as planned.',
      1, 120, 20, 0.00003, at, at, at, at
    from generate_series(0, ${count}::bigint - 1) n
    cross join lateral (
      select now() - ${daysAgo}::float8 * interval '1 day' - (${count}::bigint - n) * interval '1 second' as at
    ) as time
  `;
}

function digits(number: number): string {
  return String(number).padStart(26, '0');
}

/** The first ten characters of an id: its 48 bits of milliseconds in base32, as a UUIDv7 in TypeID form begins. */
const TIME_ID = sql`
  create or replace function bench_time_id(at timestamptz) returns text language sql immutable as $$
    select substr(d, (ms >> 45)::integer % 32 + 1, 1) || substr(d, (ms >> 40)::integer % 32 + 1, 1)
      || substr(d, (ms >> 35)::integer % 32 + 1, 1) || substr(d, (ms >> 30)::integer % 32 + 1, 1)
      || substr(d, (ms >> 25 & 31)::integer + 1, 1) || substr(d, (ms >> 20 & 31)::integer + 1, 1)
      || substr(d, (ms >> 15 & 31)::integer + 1, 1) || substr(d, (ms >> 10 & 31)::integer + 1, 1)
      || substr(d, (ms >> 5 & 31)::integer + 1, 1) || substr(d, (ms & 31)::integer + 1, 1)
    from (select floor(extract(epoch from at) * 1000)::bigint as ms, '0123456789abcdefghjkmnpqrstvwxyz' as d) as t
  $$
`;

/** Loads `count` skills, API keys, connections and tools of a project, as the product writes them. */
export async function loadResources(db: Db, { projectId, count }: { projectId: string; count: number }): Promise<void> {
  const number = sql`lpad(n::text, 26, '0')`;
  const each = sql`generate_series(0, ${count}::bigint - 1) n`;
  await db.run`
    insert into skills (id, project_id, name, instructions)
    select 'skl_' || ${number}, ${projectId}, 'Skill ' || n, repeat('Write in plain words. ', 50) from ${each}
  `;
  await db.run`
    insert into api_keys (id, project_id, name, prefix, hash, scopes)
    select 'key_' || ${number}, ${projectId}, 'Key ' || n, 'b' || lpad(n::text, 7, '0'), sha256(n::text::bytea),
      '{models:read,routines:read,runs:read,runs:write}'
    from ${each}
  `;
  await db.run`
    insert into connections (id, project_id, kind, name, url, auth, state, server)
    select 'con_' || ${number}, ${projectId}, 'tool_server', 'Tools ' || n, 'https://tools.example.com/mcp', 'none',
      'ready', '{"name": "tools", "title": null, "version": "1", "protocolVersion": "2026-07-28"}'
    from ${each}
  `;
  await db.run`
    insert into tool_policies (id, project_id, routine_id, connection_id, tool_name, description, input_schema,
      definition_hash)
    select 'pol_' || ${number}, ${projectId}, ${routineId(0)}, 'con_' || ${number}, 'lookup', 'Looks something up.',
      '{"type": "object", "properties": {"query": {"type": "string"}}}', repeat('0', 64)
    from ${each}
  `;
}

/** Loads running runs without a workflow, and returns their ids. */
export async function loadRunning(
  { projectId, organizationId, databaseUrl }: Readonly<Record<'projectId' | 'organizationId' | 'databaseUrl', string>>,
  count: number,
): Promise<string[]> {
  await load(databaseUrl, async (db) => {
    await loadRoutines(db, { projectId, firstNumber: 0, count: 1 });
    await db.run`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, model_provider,
        model_id, max_steps, timeout_seconds, created_at, started_at, workflow_started_at, admitted_at)
      select 'run_' || lpad(n::text, 26, '0'), ${organizationId}, ${projectId}, ${routineId(0)}, 1, 'manual',
        'running', 'gateway', 'fixture/writer-small', 25, 900, now(), now(), now(), now()
      from generate_series(0, ${count}::bigint - 1) n
    `;
  });
  return Array.from({ length: count }, (_, n) => `run_${digits(n)}`);
}

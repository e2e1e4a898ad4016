import { expect } from 'vitest';
import { execute, raw, sql, type Database, type Sql } from '#lib/database/index.ts';
import { plantRoutines } from '#test/scheduling/planted.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { routineBody } from '#test/support/routines.ts';

const test = serviceTest();

interface Limited {
  readonly what: string;
  readonly max: number;
  /** Gives the project so many. */
  readonly plant: (database: Database, owner: Person, count: number) => Promise<unknown>;
  /** Takes one of them away. */
  readonly remove: (projectId: string) => Sql;
  readonly create: (client: ApiClient, owner: Person) => ReturnType<ApiClient['post']>;
}

/** Takes one away in which nothing ever is: it goes to another project. */
function leave(table: 'routines' | 'api_keys') {
  const rows = raw(table);
  return (projectId: string) => sql`
    update ${rows} set project_id = (select min(id) from projects where id <> ${projectId})
    where id = (select max(id) from ${rows} where project_id = ${projectId})`;
}

/** Plants keys beside the one that the test itself has. */
function plantKeys(revokedAt: Sql): Limited['plant'] {
  return (database, { projectId }, count) =>
    execute(
      database,
      sql`
        insert into api_keys (id, project_id, name, prefix, hash, scopes, revoked_at)
        select 'key_' || n || ${projectId}, ${projectId}, 'Planted', n || ${projectId}, '', '{models:read}', ${revokedAt}
        from generate_series(2, ${count}::integer) as n
      `,
    );
}

const LIMITED: readonly Limited[] = [
  {
    what: 'routines that are not archived',
    max: 5_000,
    plant: (database, { projectId, organizationId }, count) =>
      plantRoutines(database, count, { beside: { id: '', projectId, organizationId } }),
    remove: (projectId) => sql`
      update routines set state = 'archived', archived_at = now()
      where id = (select min(id) from routines where project_id = ${projectId})`,
    create: (client) => client.post('/v1/routines', routineBody()),
  },
  {
    what: 'routines, archived ones included',
    max: 50_000,
    plant: async (database, { projectId, organizationId }, count) => {
      await plantRoutines(database, count, { beside: { id: '', projectId, organizationId } });
      await execute(
        database,
        sql`update routines set state = 'archived', archived_at = now() where project_id = ${projectId}`,
      );
    },
    remove: leave('routines'),
    create: (client) => client.post('/v1/routines', routineBody()),
  },
  {
    what: 'API keys that work',
    max: 200,
    plant: plantKeys(sql`null`),
    remove: (projectId) =>
      sql`update api_keys set revoked_at = now() where project_id = ${projectId}`,
    create: (_client, { session }) => session.post('/v1/api-keys', { name: 'One more' }),
  },
  {
    what: 'API keys, revoked ones included',
    max: 20_000,
    plant: plantKeys(sql`now()`),
    remove: leave('api_keys'),
    create: (_client, { session }) => session.post('/v1/api-keys', { name: 'One more' }),
  },
  {
    what: 'custom skills',
    max: 1_000,
    plant: (database, { projectId }, count) =>
      execute(
        database,
        sql`
          insert into skills (id, project_id, name, instructions)
          select 'skl_' || lpad(n::text, 26, '0'), ${projectId}, 'Planted', 'Keep it short, please.'
          from generate_series(1, ${count}::integer) as n
        `,
      ),
    remove: (projectId) => sql`
      update skills set deleted_at = now()
      where id = (select min(id) from skills where project_id = ${projectId})`,
    create: (client) =>
      client.post('/v1/skills', { name: 'One more', instructions: 'Keep it short, please.' }),
  },
  {
    what: 'connections',
    max: 1_000,
    plant: (database, { projectId }, count) =>
      execute(
        database,
        sql`
          insert into connections (id, project_id, kind, name, url, auth, state)
          select 'con_' || lpad(n::text, 26, '0'), ${projectId}, 'tool_server', 'Planted', 'https://tools.example.com/',
            'none', 'ready'
          from generate_series(1, ${count}::integer) as n
        `,
      ),
    remove: (projectId) => sql`
      delete from connections where id = (select min(id) from connections where project_id = ${projectId})`,
    // Nobody listens there; beyond the limit nobody is asked.
    create: (client) =>
      client.post('/v1/connections', { name: 'One more', url: 'http://127.0.0.1:9/mcp' }),
  },
];

test.for(LIMITED)(
  'a project has at most $max $what, whatever others have',
  { timeout: 60_000 },
  async ({ max, plant, remove, create }, { service }) => {
    const { database } = service.deps;
    const [one, other] = [await signUp(service), await signUp(service)];
    const [key, othersKey] = [await one.key(), await other.key()];
    const codeOf = async (client: ApiClient, owner: Person) =>
      (await create(client, owner)).body.error?.code;
    const accepted = await codeOf(othersKey, other);
    expect(accepted).not.toBe('limit_reached');

    await plant(database, one, max);
    expect(await codeOf(key, one)).toBe('limit_reached');
    expect(await codeOf(othersKey, other)).toBe(accepted);
    await execute(database, remove(one.projectId));
    expect(await codeOf(key, one)).toBe(accepted);
  },
);

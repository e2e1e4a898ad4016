import { expect } from 'vitest';
import { execute, sql, type Database, type Sql } from '#lib/database/index.ts';
import { plantRoutines } from '#test/scheduling/planted.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import type { Person } from '#test/support/people.ts';
import { routineBody } from '#test/support/routines.ts';

const test = serviceTest();

interface Limited {
  readonly what: string;
  readonly max: number;
  /** Gives the project so many. */
  readonly plant: (database: Database, owner: Person, count: number) => Promise<unknown>;
  /** Takes one of them away. */
  readonly remove: (projectId: string) => Sql;
  readonly create: (client: ApiClient) => ReturnType<ApiClient['post']>;
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
  async ({ max, plant, remove, create }, { service, bob, key, bobsKey }) => {
    const { database } = service.deps;
    const codeOf = async (client: ApiClient) => (await create(client)).body.error?.code;
    const accepted = await codeOf(key);
    expect(accepted).not.toBe('limit_reached');

    await plant(database, bob, max);
    expect(await codeOf(bobsKey)).toBe('limit_reached');
    expect(await codeOf(key)).toBe(accepted);
    await execute(database, remove(bob.projectId));
    expect(await codeOf(bobsKey)).toBe(accepted);
  },
);

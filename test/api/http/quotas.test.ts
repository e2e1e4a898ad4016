import { expect } from 'vitest';
import { AT_ONCE, raw, sql, type Database, type Sql } from '#lib/database/index.ts';
import { plantRoutines } from '#test/core/scheduling/planted.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { routineBody } from '#test/support/routines.ts';
import {
  changeKeys,
  changeRoutines,
  changeSkills,
  plantConnections,
  plantKeys,
  plantSkills,
  removeConnections,
} from '#test/support/given.ts';

const test = serviceTest();

interface Limited {
  readonly what: string;
  readonly max: number;
  /** Gives the project this number of resources. */
  readonly plant: (database: Database, owner: Person, count: number) => Promise<unknown>;
  /** Removes one of the resources. */
  readonly remove: (database: Database, projectId: string) => Promise<void>;
  readonly create: (client: ApiClient, owner: Person) => ReturnType<ApiClient['post']>;
}

/** Returns a condition for the first row that a project has in a table. */
function firstOf(table: string, projectId: string) {
  const first = sql`select min(id) from ${raw(table)} where project_id = ${projectId}`;
  return { id: (id: Sql) => sql`${id} = (${first})` };
}

/** Moves a row to another project, because no operation deletes it. */
function elsewhere(projectId: string) {
  return { projectId: sql`(select min(id) from projects where id <> ${projectId})` };
}

const ARCHIVED = { state: 'archived', archivedAt: AT_ONCE };

const LIMITED: readonly Limited[] = [
  {
    what: 'routines that are not archived',
    max: 5_000,
    plant: (database, { projectId, organizationId }, count) =>
      plantRoutines(database, count, { beside: { id: '', projectId, organizationId } }),
    remove: (database, projectId) => changeRoutines(database, firstOf('routines', projectId), ARCHIVED),
    create: (client) => client.post('/v1/routines', routineBody()),
  },
  {
    what: 'routines, archived ones included',
    max: 50_000,
    plant: async (database, { projectId, organizationId }, count) => {
      await plantRoutines(database, count, { beside: { id: '', projectId, organizationId } });
      await changeRoutines(database, { projectId }, ARCHIVED);
    },
    remove: (database, projectId) => changeRoutines(database, firstOf('routines', projectId), elsewhere(projectId)),
    create: (client) => client.post('/v1/routines', routineBody()),
  },
  {
    what: 'API keys that work',
    max: 200,
    // The key of the test counts too.
    plant: (database, { projectId }, count) => plantKeys(database, projectId, count - 1),
    remove: (database, projectId) => changeKeys(database, { projectId }, { revokedAt: AT_ONCE }),
    create: (_client, { session }) => session.post('/v1/api-keys', { name: 'One more' }),
  },
  {
    what: 'API keys, revoked ones included',
    max: 20_000,
    plant: (database, { projectId }, count) => plantKeys(database, projectId, count - 1, { revokedAt: AT_ONCE }),
    remove: (database, projectId) => changeKeys(database, firstOf('api_keys', projectId), elsewhere(projectId)),
    create: (_client, { session }) => session.post('/v1/api-keys', { name: 'One more' }),
  },
  {
    what: 'custom skills',
    max: 1_000,
    plant: (database, { projectId }, count) => plantSkills(database, projectId, count),
    remove: (database, projectId) => changeSkills(database, firstOf('skills', projectId), { deletedAt: AT_ONCE }),
    create: (client) => client.post('/v1/skills', { name: 'One more', instructions: 'Keep it short, please.' }),
  },
  {
    what: 'connections',
    max: 1_000,
    plant: (database, { projectId }, count) => plantConnections(database, projectId, count),
    remove: (database, projectId) => removeConnections(database, firstOf('connections', projectId)),
    // No server listens at this address, and no request is sent beyond the limit.
    create: (client) => client.post('/v1/connections', { name: 'One more', url: 'http://127.0.0.1:9/mcp' }),
  },
];

// On each change, only limits that can be reached within a second are tested.
test.for(LIMITED.filter(({ max }) => FULL_SIZE || max <= 20_000))(
  'a project has at most $max $what, apart from those of others',
  async ({ max, plant, remove, create }, { service }) => {
    const { database } = service.deps;
    const [one, other] = [await signUp(service), await signUp(service)];
    const [key, othersKey] = [await one.key(), await other.key()];
    const codeOf = async (client: ApiClient, owner: Person) => (await create(client, owner)).body.error?.code;
    const accepted = await codeOf(othersKey, other);
    expect(accepted).not.toBe('limit_reached');

    await plant(database, one, max);
    expect(await codeOf(key, one)).toBe('limit_reached');
    expect(await codeOf(othersKey, other)).toBe(accepted);
    await remove(database, one.projectId);
    expect(await codeOf(key, one)).toBe(accepted);
  },
);

import { expect } from 'vitest';
import { AT_ONCE } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { changeProjects, giveRole, plantProjects } from '#test/support/given.ts';

const test = serviceTest().extend(
  'join',
  ({ service }) =>
    async (person: Person, organizationId: string, role: string): Promise<void> => {
      await giveRole(service.deps.database, organizationId, person.userId, role);
    },
);

test('signing up makes an organization that the person owns, and its default project', async ({ ada }) => {
  const { data: organizations } = await ada.session.get('/v1/organizations');
  expect(organizations).toEqual([
    {
      id: ada.organizationId,
      name: "Test Person's organization",
      role: 'owner',
      createdAt: expect.stringMatching(/Z$/),
    },
  ]);
  const { data: projects } = await ada.session.get('/v1/projects');
  expect(projects).toEqual([
    expect.objectContaining({
      id: ada.projectId,
      organizationId: ada.organizationId,
      name: 'Default',
      isDemo: false,
    }),
  ]);
});

test(
  'a new organization comes with its default project, and only its founder sees it',
  proves('POST /v1/organizations', 'GET /v1/organizations'),
  async ({ service, ada }) => {
    const person = await signUp(service);
    const created = await person.session.post('/v1/organizations', { name: '  Acme ' });
    expect(created.status).toBe(201);
    expect(created.data).toMatchObject({
      name: 'Acme',
      role: 'owner',
      defaultProject: { name: 'Default', organizationId: created.data.id },
    });
    const own = await person.session.get('/v1/organizations');
    expect(own.data.map((organization: { id: string }) => organization.id)).toEqual([
      created.data.id,
      person.organizationId,
    ]);
    const others = await ada.session.get('/v1/organizations');
    expect(JSON.stringify(others.data)).not.toContain(created.data.id);
  },
);

test(
  'the list of projects can be narrowed to one organization, and is empty for a foreign one',
  proves('GET /v1/projects'),
  async ({ service, ada }) => {
    const person = await signUp(service);
    const { data: second } = await person.session.post('/v1/organizations', { name: 'Second' });
    const all = await person.session.get('/v1/projects');
    expect(all.data).toHaveLength(2);
    const narrowed = await person.session.get(`/v1/projects?organizationId=${second.id}`);
    expect(narrowed.data).toEqual([second.defaultProject]);
    const foreign = await person.session.get(`/v1/projects?organizationId=${ada.organizationId}`);
    expect(foreign.data).toEqual([]);
  },
);

test(
  'owners and admins create projects, members may not, and a foreign organization does not exist',
  proves('POST /v1/projects'),
  async ({ ada, bob, join }) => {
    const create = (person: Person) =>
      person.session.post('/v1/projects', { organizationId: ada.organizationId, name: 'Site' });
    const owner = await create(ada);
    expect(owner.status).toBe(201);
    expect(owner.data).toMatchObject({ organizationId: ada.organizationId, name: 'Site' });

    const foreign = await create(bob);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'organization_not_found']);

    await join(bob, ada.organizationId, 'member');
    const member = await create(bob);
    expect([member.status, member.body.error.code]).toEqual([403, 'forbidden']);

    await join(bob, ada.organizationId, 'admin');
    expect((await create(bob)).status).toBe(201);
  },
);

test('an unknown organization gets the response of a foreign one', async ({ ada }) => {
  const answer = await ada.session.post('/v1/projects', {
    organizationId: newId('organization'),
    name: 'Nowhere',
  });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'organization_not_found']);
});

test('an organization has at most 200 projects, and 2,000 with those that were deleted', async ({ service }) => {
  const { database } = service.deps;
  const { session, organizationId } = await signUp(service);
  const create = async () => {
    const { status, body } = await session.post('/v1/projects', { organizationId, name: 'More' });
    return [status, body.error?.message];
  };
  // The default project counts too.
  await plantProjects(database, organizationId, 199);
  expect(await create()).toEqual([409, 'An organization has at most 200 projects; delete one first.']);
  const planted = { organizationId, name: 'Planted' };
  await changeProjects(database, planted, { deletedAt: AT_ONCE });
  expect(await create()).toEqual([201, undefined]);
  await plantProjects(database, organizationId, 1_799);
  await changeProjects(database, planted, { deletedAt: AT_ONCE });
  expect(await create()).toEqual([
    409,
    'An organization has at most 2000 projects, deleted ones included; use another organization.',
  ]);
});

import { z } from 'zod';
import * as deletion from '#core/upkeep/deletion/index.ts';
import * as organizations from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { EXAMPLE, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { route, type Route } from '../route.ts';

export const project = z
  .strictObject({
    id: idOf('project', EXAMPLE.project),
    organizationId: idOf('organization', EXAMPLE.organization),
    name: z.string(),
    isDemo: z.boolean().meta({
      description: 'Whether its runs are invented: true only for the demo of a local start.',
    }),
    createdAt: timestamp,
  })
  .meta({ id: 'Project' });

export const organization = z
  .strictObject({
    id: idOf('organization', EXAMPLE.organization),
    name: z.string(),
    role: z.enum(['owner', 'admin', 'member']).meta({ description: 'Your role in the organization.' }),
    createdAt: timestamp,
  })
  .meta({ id: 'Organization' });

const confirmation = z.strictObject({
  confirm: z
    .string()
    .max(200)
    .default('')
    .meta({ description: 'The name of the resource to delete.', example: 'Website' }),
});

const listOrganizations = route({
  method: 'GET',
  path: '/v1/organizations',
  id: 'listOrganizations',
  tag: 'Organizations and projects',
  summary: 'List the organizations you belong to',
  auth: 'session',
  mcp: false,
  query: pageQuery('organization', {}),
  success: { status: 200, data: z.array(organization), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await organizations.listOrganizations(deps.database, access.userId, page);
  return listReply(found, page, (row) => present(organization, row));
});

const deleteOrganization = route({
  method: 'DELETE',
  path: '/v1/organizations/:organizationId',
  id: 'deleteOrganization',
  tag: 'Organizations and projects',
  summary: 'Delete an organization with all its projects',
  description:
    'Needs the role owner, no active routine in any project, no subscription, and its name as `confirm`. Access ends at once: API keys are revoked, credentials erased, open runs cancelled. Retention erases the content of runs.',
  auth: 'session',
  mcp: false,
  fresh: true,
  params: z.strictObject({ organizationId: idOf('organization', EXAMPLE.organization) }),
  query: confirmation,
  success: { status: 200, data: organization, description: 'The deleted organization.' },
  errors: ['owner_required', 'forbidden', 'confirmation_required', 'routines_active', 'subscription_active'],
}).to(async ({ by, params, query, deps }) => {
  const confirmed = { id: params.organizationId, confirm: query.confirm };
  return { data: present(organization, await deletion.deleteOrganization(deps, by, confirmed)) };
});

const deleteProject = route({
  method: 'DELETE',
  path: '/v1/projects/:projectId',
  id: 'deleteProject',
  tag: 'Organizations and projects',
  summary: 'Delete a project',
  description:
    'Needs the role owner or admin, no active routine, and its name as `confirm`. Access ends at once: API keys are revoked, credentials erased, open runs cancelled. Retention erases the content of runs.',
  auth: 'session',
  mcp: false,
  fresh: true,
  params: z.strictObject({ projectId: idOf('project', EXAMPLE.project) }),
  query: confirmation,
  success: { status: 200, data: project, description: 'The deleted project.' },
  errors: ['forbidden', 'confirmation_required', 'routines_active'],
}).to(async ({ by, params, query, deps }) => {
  const confirmed = { id: params.projectId, confirm: query.confirm };
  return { data: present(project, await deletion.deleteProject(deps, by, confirmed)) };
});

const createOrganization = route({
  method: 'POST',
  path: '/v1/organizations',
  id: 'createOrganization',
  tag: 'Organizations and projects',
  summary: 'Create an organization with its default project',
  auth: 'session',
  mcp: false,
  body: z.strictObject({ name: nameOf(100).meta({ example: 'Acme' }) }),
  idempotent: true,
  success: {
    status: 201,
    location: '/v1/organizations/:id',
    data: z.strictObject({ ...organization.shape, defaultProject: project }).meta({ id: 'CreatedOrganization' }),
    description: 'The organization, which you own, and its default project.',
  },
  errors: ['limit_reached'],
}).to(async ({ by, body, deps, newId }) => {
  const { MAX_ORGANIZATIONS_PER_PERSON: maxOrganizations } = deps.config;
  const input = { id: newId('organization'), projectId: newId('project'), name: body.name };
  const created = await transaction(deps.database, (tx) =>
    organizations.foundOrganization(tx, by, input, { maxOrganizations }),
  );
  return {
    data: {
      ...present(organization, created.organization),
      defaultProject: present(project, created.project),
    },
  };
});

const listProjects = route({
  method: 'GET',
  path: '/v1/projects',
  id: 'listProjects',
  tag: 'Organizations and projects',
  summary: 'List your projects',
  auth: 'session',
  mcp: false,
  query: pageQuery('project', {
    organizationId: z.string().max(64).optional().meta({ description: 'Only projects of this organization.' }),
  }),
  success: { status: 200, data: z.array(project), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await organizations.listProjects(deps.database, {
    userId: access.userId,
    organizationId: query.organizationId,
    page,
  });
  return listReply(found, page, (row) => present(project, row));
});

const createProject = route({
  method: 'POST',
  path: '/v1/projects',
  id: 'createProject',
  tag: 'Organizations and projects',
  summary: 'Create a project',
  description: 'Needs the role owner or admin in the organization.',
  auth: 'session',
  mcp: false,
  body: z.strictObject({
    organizationId: z.string().max(64).meta({ example: EXAMPLE.organization }),
    name: nameOf(100).meta({ example: 'Website' }),
  }),
  idempotent: true,
  success: { status: 201, location: '/v1/projects/:id', data: project, description: 'The project.' },
  errors: ['organization_not_found', 'forbidden', 'second_factor_required', 'limit_reached'],
}).to(async ({ by, body, deps, newId }) => {
  const input = { id: newId('project'), ...body };
  const created = await transaction(deps.database, (tx) => organizations.createProject(tx, by, input));
  return { data: present(project, created) };
});

export const organizationRoutes: readonly Route[] = [
  listOrganizations,
  createOrganization,
  deleteOrganization,
  listProjects,
  createProject,
  deleteProject,
];

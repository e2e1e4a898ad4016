import { z } from 'zod';
import * as deletion from '#core/upkeep/deletion/index.ts';
import * as organizations from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { nameOf, timestamp } from '#lib/schemas.ts';
import { component, EXAMPLE, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Organizations and projects');

export const project = component('Project', {
  id: idOf('project'),
  organizationId: idOf('organization'),
  name: z.string(),
  isDemo: z
    .boolean()
    .describe('Whether the runs of the project are invented: true only for the demo of a local start.'),
  createdAt: timestamp,
});

export const organization = component('Organization', {
  id: idOf('organization'),
  name: z.string(),
  role: z.enum(['owner', 'admin', 'member']).describe('Your role in the organization.'),
  createdAt: timestamp,
});

const confirmation = z.strictObject({
  confirm: z
    .string()
    .max(200)
    .default('')
    .meta({ description: 'The name of the resource to delete.', example: 'Website' }),
});

const listOrganizations = route('GET /v1/organizations', {
  id: 'listOrganizations',
  summary: 'List the organizations you belong to',
  auth: 'session',
  query: pageQuery('organization', {}),
  success: { data: z.array(organization), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await organizations.listOrganizations(deps.database, access.userId, page);
  return listReply(found, page, (row) => present(organization, row));
});

const deleteOrganization = route('DELETE /v1/organizations/:organizationId', {
  id: 'deleteOrganization',
  summary: 'Delete an organization with all its projects',
  description:
    'Needs the role owner, no active routine in any project, no subscription, and its name as `confirm`. Access ends at once: API keys are revoked, credentials erased, open runs cancelled. Retention erases the content of runs.',
  auth: 'session',
  fresh: true,
  params: z.strictObject({ organizationId: idOf('organization') }),
  query: confirmation,
  success: { data: organization, description: 'The deleted organization.' },
  errors: ['owner_required', 'forbidden', 'confirmation_required', 'routines_active', 'subscription_active'],
}).to(async ({ by, params, query, deps }) => {
  const confirmed = { id: params.organizationId, confirm: query.confirm };
  return { data: present(organization, await deletion.deleteOrganization(deps, by, confirmed)) };
});

const deleteProject = route('DELETE /v1/projects/:projectId', {
  id: 'deleteProject',
  summary: 'Delete a project',
  description:
    'Needs the role owner or admin, no active routine, and its name as `confirm`. Access ends at once: API keys are revoked, credentials erased, open runs cancelled. Retention erases the content of runs.',
  auth: 'session',
  fresh: true,
  params: z.strictObject({ projectId: idOf('project') }),
  query: confirmation,
  success: { data: project, description: 'The deleted project.' },
  errors: ['forbidden', 'confirmation_required', 'routines_active'],
}).to(async ({ by, params, query, deps }) => {
  const confirmed = { id: params.projectId, confirm: query.confirm };
  return { data: present(project, await deletion.deleteProject(deps, by, confirmed)) };
});

const createOrganization = route('POST /v1/organizations', {
  id: 'createOrganization',
  summary: 'Create an organization with its default project',
  auth: 'session',
  body: z.strictObject({ name: nameOf(100).meta({ example: 'Acme' }) }),
  idempotent: true,
  success: {
    status: 201,
    location: '/v1/organizations/:id',
    data: component('CreatedOrganization', { ...organization.shape, defaultProject: project }),
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

const listProjects = route('GET /v1/projects', {
  id: 'listProjects',
  summary: 'List your projects',
  auth: 'session',
  query: pageQuery('project', {
    organizationId: z.string().max(64).optional().describe('Only projects of this organization.'),
  }),
  success: { data: z.array(project), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await organizations.listProjects(deps.database, {
    userId: access.userId,
    organizationId: query.organizationId,
    page,
  });
  return listReply(found, page, (row) => present(project, row));
});

const createProject = route('POST /v1/projects', {
  id: 'createProject',
  summary: 'Create a project',
  description: 'Needs the role owner or admin in the organization.',
  auth: 'session',
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

import { z } from 'zod';
import * as identity from '#core/accounts/identity/index.ts';
import * as settings from '#core/accounts/settings/index.ts';
import { transaction } from '#lib/database/index.ts';
import type { Deps } from '../deps.ts';
import { present } from '../http/present.ts';
import { nameOf } from '#lib/schemas.ts';
import { component, idOf } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { deliveryOf, mailDelivery } from './settings-schemas.ts';
import { organization, project } from './organizations.ts';

const route = routesOf('Organizations and projects');

const budget = z
  .strictObject({
    maxTokensPerDay: z.number().int().nullable(),
    maxCostUsdPerMonth: z.string().nullable(),
  })
  .describe('Limits on the spending of all runs together; null for no limit.');

const notifications = z.strictObject({
  mail: settings.mailSettings
    .nullable()
    .describe(
      'Recipients of mail about routines without settings of their own, and about the budgets of the project and its organization; null for no one.',
    ),
});

const mcpEnabled = z
  .boolean()
  .describe(
    'True when programs may reach the project through `/mcp`, with API keys or as connected assistants; true for a new project.',
  );

const sharedLinksEnabled = z
  .boolean()
  .describe(
    'Whether results can be shared by links that need no sign-in; false for a new project. Switching it off ends every link for good.',
  );

const organizationDetail = component('OrganizationDetail', {
  ...organization.shape,
  budget,
  requiresSecondFactor: z
    .boolean()
    .describe(
      'Members without a second factor get 403 `second_factor_required` for every request in the organization; API keys still work.',
    ),
});
const projectDetail = component('ProjectDetail', {
  ...project.shape,
  budget,
  runContentDays: z
    .number()
    .int()
    .describe('Days after the end of a run until its content is erased; never more than `runDays`.'),
  runDays: z.number().int().describe('Days after the end of a run until it is deleted. Totals of usage stay.'),
  notifications,
  mailDelivery,
  mcpEnabled,
  sharedLinksEnabled,
});

const patchFields = {
  name: nameOf(100).meta({ example: 'Website' }),
  budget: z.strictObject(settings.budgetFields).partial(),
};
const organizationPatch = z.strictObject({ ...patchFields, requiresSecondFactor: z.boolean() }).partial();

const days = z
  .number()
  .int()
  .min(1)
  .nullable()
  .describe('At most the limit of the service; null for the limit itself.');
const projectPatch = z
  .strictObject({
    ...patchFields,
    runContentDays: days,
    runDays: days,
    notifications: notifications.partial(),
    mcpEnabled,
    sharedLinksEnabled,
  })
  .partial();

const organizationParams = z.strictObject({
  organizationId: idOf('organization'),
});
const projectParams = z.strictObject({ projectId: idOf('project') });

const readOrganization = route('GET /v1/organizations/:organizationId', {
  id: 'readOrganization',
  summary: 'Read an organization with its budget',
  auth: 'session',
  params: organizationParams,
  success: { data: organizationDetail, description: 'The organization.' },
}).to(async ({ access, params: { organizationId }, deps }) => {
  const key = { userId: access.userId, id: organizationId };
  return { data: present(organizationDetail, await settings.readOrganization(deps.database, key)) };
});

const updateOrganization = route('PATCH /v1/organizations/:organizationId', {
  id: 'updateOrganization',
  summary: 'Change the name or the budget of an organization',
  description:
    'Needs the role owner or admin. `budget` is changed field by field. Only an owner with a second factor can set `requiresSecondFactor`, after a fresh proof.',
  auth: 'session',
  params: organizationParams,
  body: organizationPatch.meta({ id: 'UpdateOrganization' }),
  success: { data: organizationDetail, description: 'The organization.' },
  errors: ['forbidden', 'owner_required', 'reauthentication_required'],
}).to(async ({ access, by, params: { organizationId }, body, deps }) => {
  if (body.requiresSecondFactor !== undefined) identity.assertFreshProof(access);
  const changed = await transaction(deps.database, (tx) => settings.patchOrganization(tx, by, organizationId, body));
  return { data: present(organizationDetail, changed) };
});

const readProject = route('GET /v1/projects/:projectId', {
  id: 'readProject',
  summary: 'Read a project with its budget and how long it keeps runs',
  auth: 'session',
  params: projectParams,
  success: { data: projectDetail, description: 'The project.' },
}).to(async ({ access, params: { projectId }, deps }) => {
  const key = { userId: access.userId, id: projectId };
  const found = await settings.readProject(deps.database, key, deps.retention);
  return { data: presentDetail(found, deps) };
});

const readOwnProject = route('GET /v1/project', {
  id: 'readOwnProject',
  summary: 'Read the project of the API key',
  description: 'A key belongs to one project and needs no scope for this. A session selects its project.',
  auth: 'key-or-session',
  mcp: { toolset: 'authoring', view: ['id', 'name'], note: 'All tools work in this project' },
  success: { data: project, description: 'The project.' },
}).to(async ({ access, deps }) => ({
  data: present(project, await settings.projectOf(deps.database, access.projectId)),
}));

const updateProject = route('PATCH /v1/projects/:projectId', {
  id: 'updateProject',
  summary: 'Change the name, the budget, the retention or the notifications of a project',
  description:
    'Needs the role owner or admin in its organization. `budget` is changed field by field. A shorter retention ' +
    'applies to existing runs within minutes, and erases their content for good.',
  auth: 'session',
  params: projectParams,
  body: projectPatch.meta({ id: 'UpdateProject' }),
  success: { data: projectDetail, description: 'The project.' },
  errors: ['forbidden'],
}).to(async ({ by, params: { projectId }, body, deps }) => {
  const changed = await transaction(deps.database, (tx) =>
    settings.patchProject(tx, by, projectId, body, deps.retention),
  );
  return { data: presentDetail(changed, deps) };
});

export const settingsRoutes: readonly Route[] = [
  readOrganization,
  updateOrganization,
  readProject,
  readOwnProject,
  updateProject,
];

function presentDetail(row: settings.ProjectSettings, deps: Pick<Deps, 'mailer'>) {
  const notifications = { mail: row.mail };
  return present(projectDetail, { ...row, notifications, mailDelivery: deliveryOf(deps) });
}

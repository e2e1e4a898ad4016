import { z } from 'zod';
import { AUDIT_ACTIONS, listAuditEvents } from '#core/foundation/audit/index.ts';
import { assertAdmin } from '#core/accounts/organizations/index.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, EXAMPLE, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const auditEvent = component('AuditEvent', {
  id: idOf('auditEvent'),
  organizationId: idOf('organization'),
  projectId: idOf('project').nullable(),
  actor: z
    .strictObject({
      kind: z.enum(['person', 'key', 'system']),
      id: z.string().nullable(),
      name: z
        .string()
        .nullable()
        .describe('Present name of the person or key; null for the service, and for a deleted account or key.'),
      address: z.string().nullable(),
    })
    .describe('Who made the change, and from where.'),
  action: z.enum(AUDIT_ACTIONS),
  targetId: z.string().meta({ description: 'Id of the changed resource.', example: EXAMPLE.apiKey }),
  details: z
    .record(z.string(), z.unknown())
    .meta({ description: 'Details of the change, whose fields depend on `action`.', example: { to: 'admin' } }),
  createdAt: timestamp,
});

const listAudit = routesOf('Audit')('GET /v1/audit-events', {
  id: 'listAudit',
  summary: 'List the changes in an organization',
  description:
    'Needs the role owner or admin. The log has changes of members, API keys, connections, tool policies, budgets, retention, plans, skills, the content of routines and the recipients of their results, pinning and activation. Each entry is recorded together with the change, and never altered.',
  auth: 'session',
  query: pageQuery('auditEvent', {
    organizationId: idOf('organization'),
    projectId: idOf('project').optional().describe('Only changes in this project.'),
    action: z.enum(AUDIT_ACTIONS).optional().describe('Only this kind of change.'),
    actorId: z
      .string()
      .regex(/^[A-Za-z0-9_]{1,64}$/)
      .optional()
      .meta({ description: 'Only changes by this person or API key.', example: EXAMPLE.person }),
    targetId: z
      .string()
      .regex(/^[A-Za-z0-9_]{1,64}$/)
      .optional()
      .describe('Only changes of the resource with this id.'),
  }),
  success: { data: z.array(auditEvent), description: 'Newest first.' },
  errors: ['organization_not_found', 'forbidden', 'second_factor_required'],
}).to(async ({ access: { userId }, query, deps }) => {
  const page = pageOf(query);
  const { organizationId, projectId, action, actorId, targetId } = query;
  await assertAdmin(deps.database, { organizationId, userId });
  const filter = { organizationId, projectId, action, actorId, targetId };
  const found = await listAuditEvents(deps.database, filter, page);
  return listReply(found, page, (row) => present(auditEvent, row));
});

export const auditRoutes: readonly Route[] = [listAudit];

import { z } from 'zod';
import * as organizations from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, emailAddress, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { organization } from './organizations.ts';

const route = routesOf('Members');

const role = z.enum(['admin', 'member']);

const invitation = component('Invitation', {
  id: idOf('invitation'),
  organizationId: idOf('organization'),
  email: z.string().meta({ example: 'grace@example.com' }),
  role,
  createdAt: timestamp,
  expiresAt: timestamp,
});

const organizationId = idOf('organization');
const invitationParams = z.strictObject({
  organizationId,
  invitationId: idOf('invitation'),
});

const listInvitations = route('GET /v1/organizations/:organizationId/invitations', {
  id: 'listInvitations',
  summary: 'List open invitations',
  description: 'Needs the role owner or admin.',
  auth: 'session',
  params: z.strictObject({ organizationId }),
  query: pageQuery('invitation', {}),
  success: {
    data: z.array(invitation),
    description: 'Newest first, without accepted and expired invitations.',
  },
  errors: ['forbidden'],
}).to(async ({ access, params, query, deps }) => {
  const page = pageOf(query);
  const found = await organizations.listInvitations(deps.database, access, params.organizationId, page);
  return listReply(found, page, (row) => present(invitation, row));
});

const createInvitation = route('POST /v1/organizations/:organizationId/invitations', {
  id: 'createInvitation',
  summary: 'Invite a person by e-mail address',
  description:
    'Needs the role owner or admin. The invitation is valid for seven days and only for this address, and replaces an earlier one. Only this response has the token; with a mail server, the invitation mail has it too. Ownership can be handed over to a member afterwards.',
  auth: 'session',
  fresh: true,
  params: z.strictObject({ organizationId }),
  body: z.strictObject({ email: emailAddress, role: role.default('member') }),
  idempotent: true,
  shownOnce: ['token'],
  success: {
    status: 201,
    data: component('CreatedInvitation', {
      ...invitation.shape,
      token: z.string().nullable().describe('Shown once; null when the response is repeated.'),
    }),
    description: 'The invitation with its token.',
  },
  errors: ['forbidden', 'already_member', 'limit_reached'],
}).to(async ({ by, params, body, deps, newId }) => {
  const input = { id: newId('invitation'), ...params, ...body };
  const { token, ...created } = await organizations.createInvitation(deps, by, input);
  return { data: { ...present(invitation, created), token } };
});

const deleteInvitation = route('DELETE /v1/organizations/:organizationId/invitations/:invitationId', {
  id: 'deleteInvitation',
  summary: 'Withdraw an invitation',
  description: 'Needs the role owner or admin.',
  auth: 'session',
  params: invitationParams,
  success: { data: invitation, description: 'The withdrawn invitation.' },
  errors: ['forbidden'],
}).to(async ({ by, params, deps }) => {
  const input = { organizationId: params.organizationId, id: params.invitationId };
  const deleted = await transaction(deps.database, (tx) => organizations.deleteInvitation(tx, deps, by, input));
  return { data: present(invitation, deleted) };
});

const acceptInvitation = route('POST /v1/invitations/accept', {
  id: 'acceptInvitation',
  summary: 'Accept an invitation',
  description:
    'Needs a sign-in with the invited address. Uses up the invitation. An unknown or expired token, or one for another address, gets the same 404.',
  auth: 'session',
  body: z.strictObject({
    token: z.string().max(100).describe('From the mail, or from the person who invited you.'),
  }),
  success: { data: organization, description: 'The organization you now belong to.' },
  errors: ['invitation_not_found', 'limit_reached'],
}).to(async ({ by, body, deps }) => ({
  data: present(
    organization,
    await transaction(deps.database, (tx) => organizations.acceptInvitation(tx, by, body.token)),
  ),
}));

export const invitationRoutes: readonly Route[] = [
  listInvitations,
  createInvitation,
  deleteInvitation,
  acceptInvitation,
];

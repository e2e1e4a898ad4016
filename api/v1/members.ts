import { z } from 'zod';
import * as deletion from '#core/upkeep/deletion/index.ts';
import * as organizations from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, idOf, personId } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Members');

const member = component('Member', {
  userId: personId,
  name: z.string(),
  email: z.string(),
  role: z.enum(['owner', 'admin', 'member']),
  joinedAt: timestamp,
});

function named(resource: 'apiKey' | 'connection') {
  const projectId = idOf('project');
  return z.strictObject({ id: idOf(resource), name: z.string(), projectId });
}

const revokedKeys = z
  .array(named('apiKey').meta({ id: 'RevokedKey' }))
  .describe('API keys of the person that were revoked with this change.');

const changedMember = component('ChangedMember', { ...member.shape, revokedKeys });

const removedMember = component('RemovedMember', {
  ...changedMember.shape,
  connections: z
    .array(named('connection').meta({ id: 'EndedSignIn' }))
    .describe(
      'Connections whose last sign-in was the person’s: runs no longer act as them, and another person must sign in.',
    ),
});

const organizationId = idOf('organization');
const memberParams = z.strictObject({ organizationId, userId: personId });

const listMembers = route('GET /v1/organizations/:organizationId/members', {
  id: 'listMembers',
  summary: 'List the members of an organization',
  auth: 'session',
  params: z.strictObject({ organizationId }),
  success: {
    data: z.array(member).max(organizations.MAX_MEMBERS),
    description: `All members in the order in which they joined; at most ${organizations.MAX_MEMBERS}.`,
  },
}).to(async ({ access, params, deps }) => {
  const found = await organizations.listMembers(deps.database, access, params.organizationId);
  return { data: found.map((row) => present(member, row)) };
});

const changeMemberRole = route('PATCH /v1/organizations/:organizationId/members/:userId', {
  id: 'changeMemberRole',
  summary: 'Give a member another role',
  description:
    'Needs the role owner or admin. Only an owner can make or unmake an owner: to hand an organization over, make another person an owner, then change your own role. An organization always has an owner. When an owner or admin becomes a member, their API keys with a write scope are revoked.',
  auth: 'session',
  fresh: true,
  params: memberParams,
  body: z.strictObject({ role: z.enum(['owner', 'admin', 'member']) }),
  success: { data: changedMember, description: 'The member.' },
  errors: ['forbidden', 'owner_required', 'last_owner'],
}).to(async ({ by, params, body, deps }) => {
  const changed = await transaction(deps.database, (tx) => organizations.changeRole(tx, by, params, body.role));
  return {
    data: present(changedMember, changed),
  };
});

const removeMember = route('DELETE /v1/organizations/:organizationId/members/:userId', {
  id: 'removeMember',
  summary: 'Remove a member, or leave',
  description:
    'Owners and admins remove other people; only an owner removes an owner. Everyone except the last owner may leave. The removal takes effect with the next request. The person’s API keys are revoked, unless an owner sets `keepKeys=true`. Connections that they signed in to become `needs_reauthorization`, so that no run acts as them.',
  auth: 'session',
  fresh: true,
  params: memberParams,
  query: z.strictObject({
    keepKeys: z
      .enum(['true', 'false'])
      .default('false')
      .describe('Keeps the API keys that the person made. Only for owners.'),
  }),
  success: { data: removedMember, description: 'Who was removed.' },
  errors: ['forbidden', 'owner_required', 'last_owner'],
}).to(async ({ by, params, query, deps }) => {
  const options = { keepKeys: query.keepKeys === 'true' };
  const removed = await deletion.removeMember(deps, by, params, options);
  return { data: present(removedMember, removed) };
});

const endedSessions = component('EndedSessions', {
  ended: z.number().int().describe('Sessions of the person.'),
  revokedKeys,
  disconnectedAssistants: z.number().int(),
});

const endMemberSessions = route('DELETE /v1/organizations/:organizationId/members/:userId/sessions', {
  id: 'endMemberSessions',
  summary: 'End the sessions of a member',
  description:
    'Needs the role owner or admin; only an owner ends an owner’s sessions. Each session of the person must give a proof (`reauthentication_required`) before its next request in this organization; other organizations are not affected. Five times an hour for each member.',
  auth: 'session',
  fresh: true,
  params: memberParams,
  query: z.strictObject({
    endPrograms: z
      .enum(['true', 'false'])
      .default('false')
      .describe(
        'Also revokes the API keys that the person made here, those of their terminals too, and disconnects their assistants.',
      ),
  }),
  success: { data: endedSessions, description: 'The ended sessions, keys and assistants.' },
  errors: ['forbidden', 'owner_required'],
}).to(async ({ by, params, query, deps }) => {
  const options = { endsPrograms: query.endPrograms === 'true' };
  return { data: present(endedSessions, await deletion.endSessionsOfMember(deps, by, params, options)) };
});

export const memberRoutes: readonly Route[] = [listMembers, changeMemberRole, removeMember, endMemberSessions];

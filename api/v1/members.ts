import { z } from 'zod';
import * as deletion from '#core/upkeep/deletion/index.ts';
import * as organizations from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { EXAMPLE, idOf, personId } from '../http/schemas.ts';
import { route, type Route } from '../route.ts';

const tag = 'Members';

const member = z
  .strictObject({
    userId: personId,
    name: z.string(),
    email: z.string(),
    role: z.enum(['owner', 'admin', 'member']),
    joinedAt: timestamp,
  })
  .meta({ id: 'Member' });

function named(resource: 'apiKey' | 'connection') {
  const projectId = idOf('project', EXAMPLE.project);
  return z.strictObject({ id: idOf(resource, EXAMPLE[resource]), name: z.string(), projectId });
}

const revokedKeys = z
  .array(named('apiKey').meta({ id: 'RevokedKey' }))
  .meta({ description: 'API keys of the person that were revoked with this change.' });

const changedMember = z.strictObject({ ...member.shape, revokedKeys }).meta({ id: 'ChangedMember' });

const removedMember = z
  .strictObject({
    ...changedMember.shape,
    connections: z.array(named('connection').meta({ id: 'EndedSignIn' })).meta({
      description:
        'Connections whose last sign-in was the person’s: runs no longer act as them, and another person must sign in.',
    }),
  })
  .meta({ id: 'RemovedMember' });

const organizationId = idOf('organization', EXAMPLE.organization);
const memberParams = z.strictObject({ organizationId, userId: personId });

const listMembers = route({
  method: 'GET',
  path: '/v1/organizations/:organizationId/members',
  id: 'listMembers',
  tag,
  summary: 'List the members of an organization',
  auth: 'session',
  mcp: false,
  params: z.strictObject({ organizationId }),
  success: {
    status: 200,
    data: z.array(member).max(organizations.MAX_MEMBERS),
    description: `All members in the order in which they joined; at most ${organizations.MAX_MEMBERS}.`,
  },
}).to(async ({ access, params, deps }) => {
  const found = await organizations.listMembers(deps.database, access, params.organizationId);
  return { data: found.map((row) => present(member, row)) };
});

const changeMemberRole = route({
  method: 'PATCH',
  path: '/v1/organizations/:organizationId/members/:userId',
  id: 'changeMemberRole',
  tag,
  summary: 'Give a member another role',
  description:
    'Needs the role owner or admin. Only an owner can make or unmake an owner: to hand an organization over, make another person an owner, then change your own role. An organization always has an owner. When an owner or admin becomes a member, their API keys with a write scope are revoked.',
  auth: 'session',
  mcp: false,
  fresh: true,
  params: memberParams,
  body: z.strictObject({ role: z.enum(['owner', 'admin', 'member']) }),
  success: { status: 200, data: changedMember, description: 'The member.' },
  errors: ['forbidden', 'owner_required', 'last_owner'],
}).to(async ({ by, params, body, deps }) => {
  const changed = await transaction(deps.database, (tx) => organizations.changeRole(tx, by, params, body.role));
  return {
    data: present(changedMember, changed),
  };
});

const removeMember = route({
  method: 'DELETE',
  path: '/v1/organizations/:organizationId/members/:userId',
  id: 'removeMember',
  tag,
  summary: 'Remove a member, or leave',
  description:
    'Owners and admins remove others, owners also owners; everyone except the last owner may leave. The removal takes effect with the next request. The person’s API keys are revoked, unless an owner sets `keepKeys=true`. Connections that they signed in to become `needs_reauthorization`, so that no run acts as them.',
  auth: 'session',
  mcp: false,
  fresh: true,
  params: memberParams,
  query: z.strictObject({
    keepKeys: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'Keeps the API keys that the person made. Only for owners.' }),
  }),
  success: { status: 200, data: removedMember, description: 'Who was removed.' },
  errors: ['forbidden', 'owner_required', 'last_owner'],
}).to(async ({ by, params, query, deps }) => {
  const options = { keepKeys: query.keepKeys === 'true' };
  const removed = await deletion.removeMember(deps, by, params, options);
  return { data: present(removedMember, removed) };
});

const endedSessions = z
  .strictObject({
    ended: z.number().int().meta({ description: 'Sessions of the person.' }),
    revokedKeys,
    disconnectedAssistants: z.number().int(),
  })
  .meta({ id: 'EndedSessions' });

const endMemberSessions = route({
  method: 'DELETE',
  path: '/v1/organizations/:organizationId/members/:userId/sessions',
  id: 'endMemberSessions',
  tag,
  summary: 'End the sessions of a member',
  description:
    'Needs the role owner or admin; only an owner ends an owner’s sessions. Each session of the person must give a proof (`reauthentication_required`) before its next request in this organization; other organizations are not affected. Five times an hour for each member.',
  auth: 'session',
  mcp: false,
  fresh: true,
  params: memberParams,
  query: z.strictObject({
    endPrograms: z.enum(['true', 'false']).default('false').meta({
      description:
        'Also revokes the API keys that the person made here, those of their terminals too, and disconnects their assistants.',
    }),
  }),
  success: { status: 200, data: endedSessions, description: 'The ended sessions, keys and assistants.' },
  errors: ['forbidden', 'owner_required'],
}).to(async ({ by, params, query, deps }) => {
  const options = { endsPrograms: query.endPrograms === 'true' };
  return { data: present(endedSessions, await deletion.endSessionsOfMember(deps, by, params, options)) };
});

export const memberRoutes: readonly Route[] = [listMembers, changeMemberRole, removeMember, endMemberSessions];

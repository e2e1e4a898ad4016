import { hash, randomBytes } from 'node:crypto';
import { recordAudit, type Actor } from '#core/audit/index.ts';
import { execute, row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { MAX_MEMBERS } from './members.ts';
import type { Organization } from './organizations.ts';
import { assertAdmin, lockOrganization, type Role } from './roles.ts';

export interface Invitation {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: Exclude<Role, 'owner'>;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Invitations are for a week; ownership is handed over to a member, never by mail. */
const LIFETIME = sql`interval '7 days'`;

const MAX_OPEN_INVITATIONS = 100;

const columns = sql`
  i.id, i.organization_id as "organizationId", i.email, i.role, i.created_at as "createdAt",
  i.expires_at as "expiresAt"
`;

/** Lists the invitations that can still be accepted. @throws {AppError} `organization_not_found`, `forbidden` */
export async function listInvitations(
  db: Db,
  by: { userId: string },
  organizationId: string,
  page: Page,
): Promise<Invitation[]> {
  await assertAdmin(db, { organizationId, userId: by.userId });
  return rows<Invitation>(
    db,
    sql`
      select ${columns} from invitations i
      where i.organization_id = ${organizationId} and i.expires_at > now() ${afterCursor(page, sql`i.id`)}
      order by i.id desc limit ${page.limit + 1}
    `,
  );
}

/**
 * Invites an address. It replaces an earlier invitation of the same address to the same organization, with its
 * token.
 * @returns the token too, which is shown once and mailed; only its hash is kept
 * @throws {AppError} `organization_not_found`, `forbidden`, `already_member`, `limit_reached`
 */
export async function createInvitation(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { id: string; organizationId: string; email: string; role: Invitation['role'] },
): Promise<{ invitation: Invitation; token: string; organizationName: string }> {
  const { id, organizationId, role } = input;
  const email = input.email.toLowerCase();
  const { name: organizationName } = await lockOrganization(tx, organizationId);
  await assertAdmin(tx, { organizationId, userId: by.id });
  await assertInvitable(tx, organizationId, email);
  const { token, tokenHash } = newInvitationToken();
  const invitation = await row<Invitation>(
    tx,
    sql`
      insert into invitations as i (id, organization_id, email, role, token_hash, invited_by, expires_at)
      values (${id}, ${organizationId}, ${email}, ${role}, ${tokenHash}, ${by.id}, now() + ${LIFETIME})
      on conflict (organization_id, email) do update set id = excluded.id, role = excluded.role,
        token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = now(),
        expires_at = excluded.expires_at
      returning ${columns}
    `,
  );
  if (invitation === undefined) throw new AppError('internal_error');
  await recordAudit(tx, {
    organizationId,
    by,
    action: 'invitation.created',
    targetId: id,
    details: { email, role },
  });
  return { invitation, token, organizationName };
}

async function assertInvitable(tx: Db, organizationId: string, email: string): Promise<void> {
  const found = await row<{ member: boolean; people: number; open: number }>(
    tx,
    sql`
      select
        exists (select 1 from memberships m join users u on u.id = m.user_id
          where m.organization_id = ${organizationId} and u.email = ${email}) as member,
        (select count(*) from memberships where organization_id = ${organizationId}) as people,
        (select count(*) from invitations
          where organization_id = ${organizationId} and expires_at > now() and email <> ${email}) as open
    `,
  );
  if (found?.member === true) throw new AppError('already_member');
  if ((found?.people ?? 0) >= MAX_MEMBERS) {
    throw new AppError('limit_reached', `An organization has at most ${MAX_MEMBERS} members.`);
  }
  if ((found?.open ?? 0) >= MAX_OPEN_INVITATIONS) {
    throw new AppError(
      'limit_reached',
      `At most ${MAX_OPEN_INVITATIONS} invitations are open at a time; delete one first.`,
    );
  }
}

/**
 * Takes an invitation back.
 * @throws {AppError} `organization_not_found`, `forbidden`, `invitation_not_found`
 */
export async function deleteInvitation(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { organizationId: string; id: string },
): Promise<Invitation> {
  const { organizationId, id } = input;
  await assertAdmin(tx, { organizationId, userId: by.id });
  const deleted = await row<Invitation>(
    tx,
    sql`
      delete from invitations i
      where i.id = ${id} and i.organization_id = ${organizationId} and i.expires_at > now() returning ${columns}
    `,
  );
  if (deleted === undefined) throw new AppError('invitation_not_found');
  const { email } = deleted;
  await recordAudit(tx, {
    organizationId,
    by,
    action: 'invitation.deleted',
    targetId: id,
    details: { email },
  });
  return deleted;
}

/**
 * Joins the organization of an invitation, which is used up. It is for one address: for another person its token
 * is refused like an unknown one.
 * @throws {AppError} `invitation_not_found`, `limit_reached`
 */
export async function acceptInvitation(
  tx: Db,
  by: Actor & { readonly id: string },
  token: string,
): Promise<Organization> {
  const invited = await row<Pick<Invitation, 'id' | 'organizationId' | 'role'>>(
    tx,
    sql`
      select i.id, i.organization_id as "organizationId", i.role
      from invitations i join users u on u.email = i.email
      where i.token_hash = ${hashInvitationToken(token)} and i.expires_at > now() and u.id = ${by.id}
    `,
  );
  if (invited === undefined) throw new AppError('invitation_not_found');
  const { id, organizationId, role } = invited;
  // The organization before the invitation: locks are taken in the order of those who invite.
  await lockOrganization(tx, organizationId).catch(() => {
    throw new AppError('invitation_not_found');
  });
  const used = await execute(
    tx,
    sql`delete from invitations where id = ${id} and token_hash = ${hashInvitationToken(token)}`,
  );
  if (used === 0) throw new AppError('invitation_not_found');
  const { people = 0 } =
    (await row<{ people: number }>(
      tx,
      sql`select count(*) as people from memberships where organization_id = ${organizationId}`,
    )) ?? {};
  if (people >= MAX_MEMBERS) {
    throw new AppError('limit_reached', `An organization has at most ${MAX_MEMBERS} members.`);
  }
  const joined = await execute(
    tx,
    sql`
      insert into memberships (organization_id, user_id, role) values (${organizationId}, ${by.id}, ${role})
      on conflict (user_id, organization_id) do nothing
    `,
  );
  if (joined === 1) {
    await recordAudit(tx, {
      organizationId,
      by,
      action: 'member.joined',
      targetId: by.id,
      details: { role, invitationId: id },
    });
  }
  const organization = await row<Organization>(
    tx,
    sql`
      select o.id, o.name, m.role, o.created_at as "createdAt"
      from organizations o join memberships m on m.organization_id = o.id
      where o.id = ${organizationId} and m.user_id = ${by.id}
    `,
  );
  if (organization === undefined) throw new AppError('internal_error');
  return organization;
}

/** Tells whether a token invites this address, for a sign-up that needs an invitation. */
export async function isInvited(db: Db, email: string, token: string): Promise<boolean> {
  const found = await row(
    db,
    sql`
      select 1 from invitations i join organizations o on o.id = i.organization_id
      where i.token_hash = ${hashInvitationToken(token)} and i.email = ${email.toLowerCase()} and i.expires_at > now()
        and o.deleted_at is null
    `,
  );
  return found !== undefined;
}

/** Makes the token of an invitation: 256 random bits, of which only the hash is kept. */
function newInvitationToken(): { token: string; tokenHash: Buffer } {
  const token = `inv_${randomBytes(32).toString('base64url')}`;
  return { token, tokenHash: hashInvitationToken(token) };
}

/** Hashes with SHA-256; with 256 random bits a slow hash would add nothing but time. */
function hashInvitationToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

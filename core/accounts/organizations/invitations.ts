import { hash, randomBytes } from 'node:crypto';
import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import type { Core } from '#core/core.ts';
import type { WithAccountMails } from '#core/foundation/outbox/index.ts';
import { throttle, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { deleteBatch, sql, transaction, type Db } from '#lib/database/index.ts';
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

const LIFETIME_SECONDS = 7 * 24 * 60 * 60;

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
  return db.rows<Invitation>`
    select ${columns} from invitations i
    where i.organization_id = ${organizationId} and i.expires_at > now() ${afterCursor(page, sql`i.id`)}
    order by i.id desc limit ${page.limit + 1}
  `;
}

type InvitationDeps = Pick<Core, 'database' | 'uiOrigin'> & WithAccountMails;

/**
 * Invites an address, by mail if there is a mail server. A new invitation replaces an earlier invitation of the same
 * address, with its token.
 * @returns the invitation with its token, which is shown once and mailed; the database has only its hash
 * @throws {AppError} `organization_not_found`, `forbidden`, `already_member`, `limit_reached`
 */
export async function createInvitation(
  deps: InvitationDeps,
  by: Actor & { readonly id: string },
  input: { id: string; organizationId: string; email: string; role: Invitation['role'] },
): Promise<Invitation & { readonly token: string }> {
  return transaction(deps.database, async (tx) => {
    const { organizationName, formerId, ...created } = await insertInvitation(tx, by, input);
    if (formerId !== undefined) await deps.accountMails?.cancel(tx, formerId);
    await mailInvitation(tx, deps, by, { ...created, organizationName });
    return created;
  });
}

async function insertInvitation(
  tx: Db,
  by: Actor & { readonly id: string },
  input: { id: string; organizationId: string; email: string; role: Invitation['role'] },
): Promise<Invitation & { readonly token: string; readonly organizationName: string; readonly formerId?: string }> {
  const { id, organizationId, role } = input;
  const email = input.email.toLowerCase();
  const { name: organizationName } = await lockOrganization(tx, organizationId);
  await assertAdmin(tx, { organizationId, userId: by.id });
  await assertInvitable(tx, organizationId, email);
  const token = `inv_${randomBytes(32).toString('base64url')}`;
  const tokenHash = hashInvitationToken(token);
  const former = await tx.row<{ id: string }>`
    select id from invitations where organization_id = ${organizationId} and email = ${email} for update
  `;
  const invitation = await tx.rowOr<Invitation>('internal_error')`
    insert into invitations as i (id, organization_id, email, role, token_hash, invited_by, expires_at)
    values (${id}, ${organizationId}, ${email}, ${role}, ${tokenHash}, ${by.id}, 
      now() + make_interval(secs => ${LIFETIME_SECONDS}::integer))
    on conflict (organization_id, email) do update set id = excluded.id, role = excluded.role,
      token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = now(),
      expires_at = excluded.expires_at
    returning ${columns}
  `;
  await recordAudit(tx, {
    organizationId,
    by,
    action: 'invitation.created',
    targetId: id,
    details: { email, role },
  });
  return { ...invitation, token, organizationName, ...(former && { formerId: former.id }) };
}

async function assertInvitable(tx: Db, organizationId: string, email: string): Promise<void> {
  const found = await tx.row<{ member: boolean; people: number; open: number }>`
    select
      exists (select 1 from memberships m join users u on u.id = m.user_id
        where m.organization_id = ${organizationId} and u.email = ${email}) as member,
      (select count(*) from memberships where organization_id = ${organizationId}) as people,
      (select count(*) from invitations
        where organization_id = ${organizationId} and expires_at > now() and email <> ${email}) as open
  `;
  if (found?.member === true) throw new AppError('already_member');
  if ((found?.people ?? 0) >= MAX_MEMBERS) {
    throw new AppError('limit_reached', `The organization has ${MAX_MEMBERS} members, the most allowed.`);
  }
  if ((found?.open ?? 0) >= MAX_OPEN_INVITATIONS) {
    throw new AppError(
      'limit_reached',
      `The organization has ${MAX_OPEN_INVITATIONS} open invitations, the most allowed; delete one first.`,
    );
  }
}

/** Limits the invitations that one person sends by mail. */
const MAILS: ThrottleRule = {
  name: 'invitation-mail',
  limit: 100,
  windowSeconds: 24 * 60 * 60,
};

/** Limits the invitations that a person with a new account sends by mail. */
const MAILS_OF_NEW: ThrottleRule = { ...MAILS, limit: 10 };

/**
 * Mails an invitation, unless the inviter has sent a hundred today, or ten with an account younger than a week. The
 * mail goes to a stranger from the operator's domain: it names the inviter's address, and mail programs cannot turn the
 * organization's name into a link.
 */
async function mailInvitation(
  db: Db,
  { accountMails, uiOrigin }: InvitationDeps,
  by: { readonly id: string },
  invitation: { id: string; email: string; token: string; organizationName: string },
): Promise<void> {
  if (accountMails === undefined) return;
  const inviter = await db.row<{ email: string; confirmed: boolean; isNew: boolean }>`
    select email, email_verified as confirmed, created_at > now() - interval '7 days' as "isNew"
    from users where id = ${by.id}
  `;
  if (inviter === undefined) return;
  const rule = inviter.isNew ? MAILS_OF_NEW : MAILS;
  if ((await throttle(db, rule, by.id)) !== undefined) return;
  const { id, email, token } = invitation;
  const organization = invitation.organizationName.replaceAll(/[:/.@\s]+/g, ' ').trim();
  const who = inviter.confirmed ? `${inviter.email} invites you` : 'You are invited';
  // The token is behind the hash sign, so that it reaches no server's log on the way.
  const lines = [
    `${who} to the organization "${organization}".`,
    'Accept within seven days, and sign in or sign up with this e-mail address:',
    `${uiOrigin}/invitations#${token}`,
    'If you do not know what this is, do nothing.',
  ];
  await accountMails.queue(db, {
    to: email,
    subject: `Invitation to ${organization}`,
    text: `${lines.join('\n\n')}\n`,
    button: 'Accept the invitation',
    seconds: LIFETIME_SECONDS,
    about: id,
  });
}

/**
 * Withdraws an invitation.
 * @throws {AppError} `organization_not_found`, `forbidden`, `invitation_not_found`
 */
export async function deleteInvitation(
  tx: Db,
  { accountMails }: WithAccountMails,
  by: Actor & { readonly id: string },
  input: { organizationId: string; id: string },
): Promise<Invitation> {
  const { organizationId, id } = input;
  await assertAdmin(tx, { organizationId, userId: by.id });
  const deleted = await tx.rowOr<Invitation>('invitation_not_found')`
    delete from invitations i
    where i.id = ${id} and i.organization_id = ${organizationId} and i.expires_at > now() returning ${columns}
  `;
  await accountMails?.cancel(tx, id);
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
 * Joins the organization of an invitation and uses the invitation up. A person with another address gets the same error
 * as for an unknown token.
 * @throws {AppError} `invitation_not_found`, `limit_reached`
 */
export async function acceptInvitation(
  tx: Db,
  by: Actor & { readonly id: string },
  token: string,
): Promise<Organization> {
  const invited = await tx.rowOr<Pick<Invitation, 'id' | 'organizationId' | 'role'>>('invitation_not_found')`
    select i.id, i.organization_id as "organizationId", i.role
    from invitations i join users u on u.email = i.email
    where i.token_hash = ${hashInvitationToken(token)} and i.expires_at > now() and u.id = ${by.id}
  `;
  const { id, organizationId, role } = invited;
  // Lock the organization before the invitation, as `createInvitation` does, so that the two cannot deadlock.
  await lockOrganization(tx, organizationId).catch(() => {
    throw new AppError('invitation_not_found');
  });
  const used = await tx.run`delete from invitations where id = ${id} and token_hash = ${hashInvitationToken(token)}`;
  if (used === 0) throw new AppError('invitation_not_found');
  const { people = 0 } =
    (await tx.row<{
      people: number;
    }>`select count(*) as people from memberships where organization_id = ${organizationId}`) ?? {};
  if (people >= MAX_MEMBERS) {
    throw new AppError('limit_reached', `The organization has ${MAX_MEMBERS} members, the most allowed.`);
  }
  const joined = await tx.run`
    insert into memberships (organization_id, user_id, role) values (${organizationId}, ${by.id}, ${role})
    on conflict (user_id, organization_id) do nothing
  `;
  if (joined === 1) {
    await recordAudit(tx, {
      organizationId,
      by,
      action: 'member.joined',
      targetId: by.id,
      details: { role, invitationId: id },
    });
  }
  return tx.rowOr<Organization>('internal_error')`
    select o.id, o.name, m.role, o.created_at as "createdAt"
    from organizations o join memberships m on m.organization_id = o.id
    where o.id = ${organizationId} and m.user_id = ${by.id}
  `;
}

/** Tells whether a token invites this address, for a sign-up that needs an invitation. */
export async function isInvited(db: Db, email: string, token: string): Promise<boolean> {
  const found = await db.row`
    select 1 from invitations i join organizations o on o.id = i.organization_id
    where i.token_hash = ${hashInvitationToken(token)} and i.email = ${email.toLowerCase()} and i.expires_at > now()
      and o.deleted_at is null
  `;
  return found !== undefined;
}

/** A slow hash would only add time, because a token has 256 random bits. */
function hashInvitationToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Deletes expired invitations, at most `limit` of them. @returns how many */
export function forgetInvitations(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, { table: 'invitations', where: sql`expires_at < now()`, limit });
}

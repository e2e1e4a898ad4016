import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordAudit, recordProjectAudit, SYSTEM, type Actor } from '#core/foundation/audit/index.ts';
import { tokenPrefix } from '#core/accounts/identity/index.ts';
import { assertAdmin, type Scope } from '#core/accounts/organizations/index.ts';
import { deleteBatch, sql, transaction, type Database, type Db, type Sql } from '#lib/database/index.ts';
import { forgetClients, shownName } from './clients.ts';
import { forgetTrustsOfMember, forgetTrustsOfProject } from './ci-trusts.ts';

/** The access that a person has given an assistant in a project. */
export interface AssistantGrant {
  readonly id: string;
  readonly clientName: string;
  readonly isVerified: boolean;
  readonly scopes: readonly Scope[];
  readonly grantedBy: { readonly id: string; readonly name: string };
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** The most assistants that a list shows; projects have far fewer. */
const MAX_LISTED = 500;

const columns = sql`
  g.id, c.name as "clientName", not c.is_dynamic as "isVerified",
  array(select scope from jsonb_array_elements_text(g.scopes) as scope where scope <> 'offline_access') as scopes,
  (select jsonb_build_object('id', u.id, 'name', u.name) from users u where u.id = g.user_id) as "grantedBy",
  g.created_at as "createdAt", g.last_used_at as "lastUsedAt"
`;

/** Lists the assistants that people have connected to a project, the latest first. */
export async function listAssistants(db: Db, projectId: string): Promise<AssistantGrant[]> {
  const found = await db.rows<AssistantGrant & { clientName: string | null }>`
    select ${columns} from oauth_consents g join oauth_clients c on c.client_id = g.client_id
    where g.reference_id = ${projectId} order by g.created_at desc, g.id limit ${MAX_LISTED}
  `;
  return found.map(named);
}

/**
 * Ends the access of an assistant: its next request is refused. Members may end the access that they gave; owners and
 * admins may end any.
 * @throws {AppError} `assistant_not_found`, `forbidden`
 */
export async function disconnectAssistant(
  tx: Db,
  by: Actor & { readonly id: string },
  { organizationId, projectId, id }: { organizationId: string; projectId: string; id: string },
): Promise<AssistantGrant> {
  const found = await tx.rowOr<AssistantGrant & { clientId: string; clientName: string | null }>('assistant_not_found')`
    select ${columns}, g.client_id as "clientId"
    from oauth_consents g join oauth_clients c on c.client_id = g.client_id
    where g.id = ${id} and g.reference_id = ${projectId} for update of g
  `;
  const { clientId, ...grant } = found;
  const userId = grant.grantedBy.id;
  if (userId !== by.id) await assertAdmin(tx, { organizationId, userId: by.id });
  await forget(tx, sql`reference_id = ${projectId} and user_id = ${userId} and client_id = ${clientId}`);
  const name = shownName({ name: grant.clientName });
  await recordAudit(tx, {
    organizationId,
    projectId,
    by,
    action: 'assistant.disconnected',
    targetId: clientId,
    details: { name },
  });
  return named(grant);
}

/** Ends all access to a project that is being deleted. */
export async function forgetGrantsOfProject(tx: Db, projectId: string): Promise<void> {
  await forgetTrustsOfProject(tx, projectId);
  await forget(tx, sql`reference_id = ${projectId}`);
}

/** Ends all access that a person gave in an organization, with an audit event for each assistant. @returns how many */
export async function endGrantsOfMember(
  tx: Db,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  ending: Ending,
): Promise<number> {
  await forgetTrustsOfMember(tx, { organizationId, userId });
  const projects = sql`select id from projects where organization_id = ${organizationId}`;
  return endGrants(tx, sql`g.user_id = ${userId} and g.reference_id in (${projects})`, ending);
}

/** The actor that ends access, and the reason, for the record. */
interface Ending {
  readonly by: Actor;
  readonly because: string;
}

/** Deletes the consent first, because without a consent no token is valid, not even a token that is being issued. */
async function forget(tx: Db, which: Sql): Promise<void> {
  await tx.run`delete from oauth_consents where ${which}`;
  await tx.run`delete from oauth_access_tokens where ${which}`;
  await tx.run`delete from oauth_refresh_tokens where ${which}`;
}

/**
 * Deletes consents with their tokens, and records each deletion.
 * @param which condition on consents `g`
 * @returns how many
 */
async function endGrants(tx: Db, which: Sql, { by, because }: Ending): Promise<number> {
  const ended = await tx.rows<{ projectId: string; userId: string; clientId: string; name: string | null }>`
    select g.reference_id as "projectId", g.user_id as "userId", g.client_id as "clientId", c.name
    from oauth_consents g join oauth_clients c on c.client_id = g.client_id where ${which} for update of g
  `;
  for (const { projectId, userId, clientId, name } of ended) {
    await forget(tx, sql`reference_id = ${projectId} and user_id = ${userId} and client_id = ${clientId}`);
    await recordProjectAudit(tx, {
      projectId,
      by,
      action: 'assistant.disconnected',
      targetId: clientId,
      details: { name: shownName({ name }), grantedBy: userId, because },
    });
  }
  return ended.length;
}

/** A refresh token that a client presents. */
interface Presented {
  readonly token: string;
  readonly clientId: string;
}

interface TokenDeps {
  readonly database: Database;
  readonly config: { readonly PRODUCT_TAG: string };
}

/**
 * Ends the access of an assistant whose refresh token is used again after the time for repeated requests: one of the
 * token's two holders is a thief. The access ends in the token's project alone; the library would end all access that
 * the person gave.
 * @returns true if the token was used again in this way
 */
export function endReusedGrant({ database, config }: TokenDeps, presented: Presented): Promise<boolean> {
  return transaction(database, async (tx) => {
    const { token, clientId } = presented;
    const found = await tx.row<{ referenceId: string; userId: string }>`
      select reference_id as "referenceId", user_id as "userId" from oauth_refresh_tokens
      where token = ${storedAs(token, config.PRODUCT_TAG)} and client_id = ${clientId} and revoked is not null
        and (rotated_at is null or coalesce(rotation_replay_expires_at < now(), true))
    `;
    if (found === undefined) return false;
    const { referenceId, userId } = found;
    await endGrants(tx, sql`g.reference_id = ${referenceId} and g.user_id = ${userId} and g.client_id = ${clientId}`, {
      by: SYSTEM,
      because: 'a refresh token came again after its use',
    });
    return true;
  });
}

const LOOK_MS = 50;
const LOOKS = 60;

/**
 * Tells whether another request exchanged this token a moment ago: both requests then get the same response. Waits
 * until that response is complete.
 */
export async function isExchangedNow(
  { database, config }: TokenDeps,
  { token, clientId }: Presented,
): Promise<boolean> {
  const stored = storedAs(token, config.PRODUCT_TAG);
  for (let look = 0; look < LOOKS; look += 1) {
    const exchange = await readExchange(database, stored, clientId);
    if (exchange === undefined || exchange.hasResponse) return exchange !== undefined;
    await sleep(LOOK_MS);
  }
  return false;
}

function readExchange(db: Db, stored: string, clientId: string): Promise<{ hasResponse: boolean } | undefined> {
  return db.row`
    select rotation_replay_response is not null as "hasResponse" from oauth_refresh_tokens
    where token = ${stored} and client_id = ${clientId} and rotated_at is not null
      and rotation_replay_expires_at >= now()
  `;
}

function storedAs(token: string, productTag: string): string {
  const prefix = tokenPrefix(productTag, 'refresh');
  return hash('sha256', token.startsWith(prefix) ? token.slice(prefix.length) : token, 'base64url');
}

const expired = { where: sql`expires_at < now()`, orderBy: sql`expires_at` };
const isOfConsent = sql`
  t.reference_id = g.reference_id and t.user_id = g.user_id and t.client_id = g.client_id
`;

/**
 * Deletes unused sign-ins of terminals, unused clients, expired tokens, and consents without a token; their assistants
 * must ask again. Sign-ins are kept for an hour after they expire, so that a late person gets a message. Each function
 * changes at most `limit` rows and returns how many.
 */
export const forgetPrograms: readonly ((db: Database, limit: number) => Promise<number>)[] = [
  (db, limit) =>
    deleteBatch(db, {
      table: 'terminal_sign_ins',
      where: sql`expires_at < now() - interval '1 hour'`,
      orderBy: sql`expires_at`,
      limit,
    }),
  forgetClients,
  (db, limit) => deleteBatch(db, { table: 'oauth_access_tokens', ...expired, limit }),
  (db, limit) => deleteBatch(db, { table: 'oauth_refresh_tokens', ...expired, limit }),
  // A stored response to an exchange contains tokens. Delete it once no repeated request can need it.
  (db, limit) => db.run`
    update oauth_refresh_tokens set rotation_replay_response = null where id = any(array(
      select id from oauth_refresh_tokens
      where rotation_replay_response is not null and rotation_replay_expires_at < now() limit ${limit}
    ))
  `,
  (db, limit) =>
    transaction(db, (tx) =>
      endGrants(
        tx,
        sql`g.id = any(array(
          select g.id from oauth_consents g
          where g.updated_at < now() - interval '1 hour'
            and not exists (select from oauth_refresh_tokens t where ${isOfConsent} and t.revoked is null)
            and not exists (select from oauth_access_tokens t where ${isOfConsent})
          limit ${limit}
        ))`,
        { by: SYSTEM, because: 'none of its tokens was left' },
      ),
    ),
];

function named(grant: AssistantGrant & { clientName: string | null }): AssistantGrant {
  return { ...grant, clientName: shownName({ name: grant.clientName }) };
}

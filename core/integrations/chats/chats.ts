import type { Core } from '#core/core.ts';
import { chatKindOf, type ChatKind } from '#core/clients/chats/index.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, transaction, type Db } from '#lib/database/index.ts';
import { invalid } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { assertWithinQuota } from '#lib/quota.ts';
import type { SecretPlace } from '#lib/secrets/index.ts';

/** A room of a chat that receives results. The address stays sealed, because everyone who has it can post. */
export interface Chat {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly kind: ChatKind;
  readonly host: string;
  /** Time at which the chat began to refuse the address for good; null while the address works. */
  readonly goneAt: Date | null;
  /** The chat's own name for the refusal, or the HTTP status. */
  readonly goneReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type ChatsCore = Pick<Core, 'database' | 'outbound' | 'secrets'>;

const MAX_CHATS = 50;

const columns = sql`id, project_id as "projectId", name, kind, host, gone_at as "goneAt", gone_reason as "goneReason",
  created_at as "createdAt", updated_at as "updatedAt"`;

export function placeOfAddress(row: string): SecretPlace {
  return { table: 'chats', row, column: 'sealed_url' };
}

/** Lists the chats of a project, the newest first. */
export function listChats(db: Db, projectId: string, page: Page): Promise<Chat[]> {
  return db.rows<Chat>`
    select ${columns} from chats where project_id = ${projectId} ${afterCursor(page, sql`id`)}
    order by id desc limit ${page.limit + 1}
  `;
}

/** @throws {AppError} `chat_not_found` */
export function readChat(db: Db, projectId: string, id: string): Promise<Chat> {
  return db.rowOr<Chat>('chat_not_found')`select ${columns} from chats where id = ${id} and project_id = ${projectId}`;
}

/** Creates a chat. @throws {AppError} `invalid_request` for an address of an unknown chat, `limit_reached` */
export async function createChat(
  { database, secrets, outbound }: ChatsCore,
  by: Actor,
  { id, projectId, name, url }: Pick<Chat, 'id' | 'projectId' | 'name'> & { readonly url: string },
): Promise<Chat> {
  const { kind, host } = recognized(outbound, url);
  const counted = sql`select from chats where project_id = ${projectId} and id <> ${id}`;
  await assertWithinQuota(database, { counted, max: MAX_CHATS, what: 'chats' });
  await transaction(database, async (tx) => {
    const created = await tx.run`
      insert into chats (id, project_id, name, kind, host, sealed_url)
      values (${id}, ${projectId}, ${name}, ${kind}, ${host}, ${secrets.seal(url, placeOfAddress(id))})
      on conflict (id) do nothing
    `;
    if (created === 0) return;
    await recordProjectAudit(tx, { by, projectId, action: 'chat.created', targetId: id, details: { name, kind } });
  });
  return readChat(database, projectId, id);
}

/**
 * Renames a chat, or gives it another address. A new address clears an earlier refusal.
 * @throws {AppError} `chat_not_found`, `invalid_request`
 */
export async function changeChat(
  { database, secrets, outbound }: ChatsCore,
  by: Actor,
  { id, projectId }: Pick<Chat, 'id' | 'projectId'>,
  patch: { readonly name?: string | undefined; readonly url?: string | undefined },
): Promise<Chat> {
  const found = patch.url === undefined ? undefined : recognized(outbound, patch.url);
  const sealed = patch.url === undefined ? null : secrets.seal(patch.url, placeOfAddress(id));
  await transaction(database, async (tx) => {
    const before = await readChat(tx, projectId, id);
    const name = patch.name ?? before.name;
    await tx.run`
      update chats set name = ${name}, kind = coalesce(${found?.kind ?? null}, kind),
        host = coalesce(${found?.host ?? null}, host), sealed_url = coalesce(${sealed}, sealed_url),
        gone_at = case when ${sealed}::text is null then gone_at end,
        gone_reason = case when ${sealed}::text is null then gone_reason end, updated_at = now()
      where id = ${id} and project_id = ${projectId}
    `;
    const details = { name, kind: found?.kind ?? before.kind, address: sealed !== null };
    await recordProjectAudit(tx, { by, projectId, action: 'chat.changed', targetId: id, details });
  });
  return readChat(database, projectId, id);
}

/** Deletes a chat with its address, and gives up the waiting deliveries. @throws {AppError} `chat_not_found` */
export function deleteChat(
  { database }: Pick<Core, 'database'>,
  by: Actor,
  { id, projectId }: Pick<Chat, 'id' | 'projectId'>,
): Promise<Chat> {
  return transaction(database, async (tx) => {
    const chat = await readChat(tx, projectId, id);
    await tx.run`delete from chats where id = ${id} and project_id = ${projectId}`;
    const { name, kind } = chat;
    await recordProjectAudit(tx, { by, projectId, action: 'chat.deleted', targetId: id, details: { name, kind } });
    return chat;
  });
}

/** Deletes the chats of a project that is being deleted. */
export async function forgetChats(tx: Db, projectId: string): Promise<void> {
  await tx.run`delete from chats where project_id = ${projectId}`;
}

/**
 * Marks a chat as refused for good, unless it has another address by now.
 * @returns true for the first caller that marks it
 */
export async function markChatGone(
  tx: Db,
  { id, projectId, sealedUrl, why }: Pick<Chat, 'id' | 'projectId'> & { readonly sealedUrl: string; why: string },
): Promise<boolean> {
  const marked = await tx.run`
    update chats set gone_at = now(), gone_reason = ${why}
    where id = ${id} and project_id = ${projectId} and sealed_url = ${sealedUrl} and gone_at is null
  `;
  return marked > 0;
}

/** Returns the names of chats with their hosts, by id; unknown ids are left out. */
export async function chatsByName(db: Db, projectId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const found = await db.rows<Pick<Chat, 'id' | 'name' | 'host'>>`
    select id, name, host from chats where project_id = ${projectId} and id = any(${ids})
  `;
  return new Map(found.map(({ id, name, host }) => [id, `"${name}" (${host})`]));
}

function recognized(outbound: ChatsCore['outbound'], url: string): Pick<Chat, 'kind' | 'host'> {
  const kind = chatKindOf(url);
  if (kind === undefined) {
    const message =
      'is not the address of an incoming webhook of Slack, Microsoft Teams, Discord or Google Chat; copy the address that the chat shows';
    throw invalid([{ path: 'url', message }]);
  }
  const fault = outbound.urlFault(url);
  if (fault !== undefined) throw invalid([{ path: 'url', message: fault.message }]);
  return { kind, host: new URL(url).hostname };
}

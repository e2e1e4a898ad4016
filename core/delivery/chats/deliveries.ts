import type { Core } from '#core/core.ts';
import type { ChatKind } from '#core/clients/chats/index.ts';
import type { Delivery } from '#core/delivery/webhooks/index.ts';
import { addWork, hastenWork } from '#core/foundation/work/index.ts';
import { AT_ONCE, sql, transaction, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';

/** Reasons why a delivery to a chat is given up. The list is closed, so that clients can branch on a reason. */
export const CHAT_FAILURES = {
  chat_gone: 'the chat no longer accepts this address, so nothing more is sent until you replace the address',
  message_refused: 'the chat does not accept this message',
  retries_exhausted: 'the last attempt of the retry schedule failed',
  chat_removed: 'the chat was deleted from the project',
  content_erased: 'the content of the run was erased',
  routine_archived: 'the routine was archived, so it sends nothing more',
} as const;
export type ChatFailure = keyof typeof CHAT_FAILURES;

/** A result on its way to a chat. */
export interface ChatDelivery extends Pick<Delivery, 'id' | 'nextAttemptAt' | 'createdAt' | 'finishedAt' | 'attempts'> {
  readonly chatId: string;
  /** Name and kind of the chat now; null once it is deleted. */
  readonly chatName: string | null;
  readonly kind: ChatKind | null;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly reason: ChatFailure | null;
}

/**
 * Queues the result of a run for these chats of its project, in the transaction of the caller. Each chat gets the
 * result once.
 */
export async function enqueueChats(
  tx: Db,
  {
    chatIds,
    ...run
  }: { organizationId: string; projectId: string; routineId: string; runId: string; chatIds: readonly string[] },
): Promise<void> {
  const ids = chatIds.map(() => newId('chatDelivery'));
  await tx.run`
    with delivery as (
      insert into chat_deliveries (id, organization_id, project_id, routine_id, run_id, chat_id)
      select each.id, ${run.organizationId}, ${run.projectId}, ${run.routineId}, ${run.runId}, c.id
      from unnest(${ids}::text[], ${chatIds}::text[]) as each (id, chat_id)
      join chats c on c.id = each.chat_id and c.project_id = ${run.projectId} and c.gone_at is null
      on conflict (run_id, chat_id) do nothing returning id, organization_id
    )
    ${addWork(sql`select 'chat', id, organization_id, ${AT_ONCE}, '{}' from delivery`)}
  `;
}

/** Lists the deliveries of a run to chats, with all attempts. The caller has read the run in its project. */
export async function listChatDeliveries(db: Db, runId: string): Promise<ChatDelivery[]> {
  const found = await db.rows<ChatDelivery>`
    select d.id, d.chat_id as "chatId", c.name as "chatName", c.kind, d.state, d.reason,
      case when d.state = 'pending' then w.due_at end as "nextAttemptAt", d.created_at as "createdAt",
      d.finished_at as "finishedAt", coalesce((
        select jsonb_agg(jsonb_build_object('index', a.index, 'startedAt', a.started_at, 'durationMs', a.duration_ms,
          'status', a.status, 'error', a.error, 'responseExcerpt', a.response_excerpt) order by a.index)
        from chat_attempts a where a.delivery_id = d.id
      ), '[]') as attempts
    from chat_deliveries d left join chats c on c.id = d.chat_id and c.project_id = d.project_id
    left join work w on w.kind = 'chat' and w.key = d.id
    where d.run_id = ${runId} order by d.id
  `;
  return found.map((delivery) => ({
    ...delivery,
    // Parse the times, which are text in JSON.
    attempts: delivery.attempts.map((each) => ({ ...each, startedAt: new Date(each.startedAt) })),
  }));
}

/**
 * Sends a delivery again. An ended delivery gets a new series of retries, a waiting delivery is sent at once.
 * @throws {AppError} `run_not_found`, `delivery_not_found`, `content_erased`, `routine_archived`
 */
export async function redeliverToChat(
  { database, work }: Pick<Core, 'database' | 'work'>,
  { projectId, runId, deliveryId }: { readonly projectId: string; readonly runId: string; readonly deliveryId: string },
): Promise<void> {
  await transaction(database, async (tx) => {
    const run = await tx.rowOr<{ isErased: boolean; isArchived: boolean }>('run_not_found')`
      select runs.content_erased_at is not null as "isErased", r.state = 'archived' as "isArchived"
      from runs join routines r on r.id = runs.routine_id
      where runs.id = ${runId} and runs.project_id = ${projectId}
    `;
    const delivery = await tx.rowOr<{ state: ChatDelivery['state'] }>('delivery_not_found')`
      select state from chat_deliveries
      where id = ${deliveryId} and run_id = ${runId} and project_id = ${projectId} for update
    `;
    if (run.isErased) throw new AppError('content_erased');
    if (run.isArchived) throw new AppError('routine_archived');
    if (delivery.state === 'pending') return hastenWork(tx, 'chat', deliveryId);
    await tx.run`
      with renewed as (
        update chat_deliveries set state = 'pending', reason = null, finished_at = null
        where id = ${deliveryId} and project_id = ${projectId} returning id, organization_id
      )
      ${addWork(sql`select 'chat', id, organization_id, ${AT_ONCE}, '{}' from renewed`)}
    `;
  });
  work.nudge('chat');
}

/** Erases the responses of chats. A waiting delivery later finds the content of its run erased. */
export async function eraseChatResponses(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`
    update chat_attempts set response_excerpt = null
    where response_excerpt is not null
      and delivery_id in (select id from chat_deliveries where run_id = any(${runIds}))
  `;
}

export async function deleteChatDeliveries(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`delete from chat_deliveries where run_id = any(${runIds})`;
}

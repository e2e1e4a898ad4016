import type { Core } from '#core/core.ts';
import { dataInWords, isOnlyData } from '#core/authoring/outcomes/index.ts';
import type { ChatKind, ChatMessage } from '#core/clients/chats/index.ts';
import { deliveryRetryMs, RETRY_LADDER_MS } from '#core/delivery/webhooks/index.ts';
import { enqueueMail } from '#core/foundation/outbox/index.ts';
import type { EndedWork, RequestKind, WorkItem, WorkOutcome } from '#core/foundation/work/index.ts';
import { findRecipients } from '#core/accounts/settings/index.ts';
import { markChatGone, postToChat, type ChatExchange } from '#core/integrations/chats/index.ts';
import { transaction, type Database, type Db } from '#lib/database/index.ts';
import { sentence } from '#lib/text.ts';
import { CHAT_FAILURES, type ChatFailure } from './deliveries.ts';

export type ChatDeps = Pick<Core, 'database' | 'outbound' | 'secrets' | 'uiOrigin'>;

/** Posts results to chats, by the retry schedule of webhooks. */
export function chatKind(deps: ChatDeps): RequestKind {
  return {
    channel: 'chat',
    batch: 20,
    waitsMs: RETRY_LADDER_MS,
    attempt: (item, signal) => attempt(deps, item, signal),
    ended: recordEnd,
  };
}

/** A result that waits to be posted, with the present state of the run, its routine and the chat. */
interface Waiting {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly runId: string;
  readonly chatId: string;
  readonly chat: { readonly name: string; readonly kind: ChatKind; readonly sealedUrl: string; isGone: boolean } | null;
  readonly isErased: boolean;
  readonly isArchived: boolean;
  readonly routineName: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly summary: string | null;
  /** Text of the result; null if the result is only data. */
  readonly text: string | null;
  readonly data: unknown;
  readonly finishedAt: Date;
  readonly timezone: string;
  /** True when the run asked a question that is open. */
  readonly asks: boolean;
  /** True when a call that the run asked for waits for a person. */
  readonly holds: boolean;
}

async function attempt(deps: ChatDeps, item: WorkItem, signal: AbortSignal | undefined): Promise<WorkOutcome> {
  const waiting = await findWaiting(deps.database, item.key);
  if (waiting === undefined) return { state: 'cancelled', error: 'the message is no longer wanted' };
  const { chat } = waiting;
  if (chat === null) return failed('chat_removed');
  if (chat.isGone) return failed('chat_gone');
  if (waiting.isErased) return failed('content_erased');
  if (waiting.isArchived) return failed('routine_archived');
  const index = await beginAttempt(deps.database, item.key);
  const exchange = await postToChat(deps, { id: waiting.chatId, ...chat }, messageOf(waiting, deps.uiOrigin), signal);
  await recordAttempt(deps.database, { id: item.key, index }, exchange);
  const { verdict, error, retryAfterMs } = exchange;
  if (verdict.state === 'delivered') return { state: 'done' };
  if (verdict.state === 'refused') return failed('message_refused');
  if (verdict.state === 'gone') {
    await stopChat(deps.database, { ...waiting, chat }, verdict.why);
    return failed('chat_gone');
  }
  const delayMs = deliveryRetryMs(item.attempt, retryAfterMs);
  return { state: 'retry', error: error ?? verdict.why, ...(delayMs === undefined ? {} : { delayMs }) };
}

function failed(reason: ChatFailure): EndedWork {
  return { state: 'failed', error: reason };
}

/** Number of characters of a result that are rendered, more than any chat accepts. */
const RENDERED = 20_000;

function findWaiting(db: Db, id: string): Promise<Waiting | undefined> {
  return db.row<Waiting>`
    select d.id, d.organization_id as "organizationId", d.project_id as "projectId", d.routine_id as "routineId",
      d.run_id as "runId", d.chat_id as "chatId",
      case when c.id is not null then jsonb_build_object('name', c.name, 'kind', c.kind, 'sealedUrl', c.sealed_url,
        'isGone', c.gone_at is not null) end as chat,
      run.content_erased_at is not null as "isErased", r.state = 'archived' as "isArchived", r.name as "routineName",
      run.state, run.outcome, run.outcome_summary as summary,
      case when ${isOnlyData} then null else left(run.result, ${RENDERED}) end as text,
      case when ${isOnlyData} then run.data end as data,
      run.finished_at as "finishedAt", r.timezone, exists (select from questions q
        where q.last_run_id = run.id and q.project_id = run.project_id and q.state = 'open' and q.expires_at > now()
      ) as asks, exists (select from actions a where (a.run_id = run.id or a.last_run_id = run.id)
        and a.project_id = run.project_id and a.state = 'open' and a.expires_at > now()
      ) as holds
    from chat_deliveries d join runs run on run.id = d.run_id and run.project_id = d.project_id
    join routines r on r.id = d.routine_id and r.project_id = d.project_id
    left join chats c on c.id = d.chat_id and c.project_id = d.project_id
    where d.id = ${id} and d.state = 'pending'
  `;
}

function messageOf(waiting: Waiting, uiOrigin: string): ChatMessage {
  const { routineName, state, outcome, summary, text, data, finishedAt, asks, holds, timezone: timeZone } = waiting;
  const at = finishedAt.toLocaleString('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' });
  const told = text ?? dataInWords(data).join('\n');
  const parts = state === 'failed' ? [] : [summary, told].filter((part) => part !== null && part !== '');
  return {
    title: routineName,
    facts: [
      state === 'failed' ? 'Failed' : (OUTCOMES[outcome ?? ''] ?? 'Succeeded'),
      at,
      ...(asks ? ['It asks a question'] : []),
      ...(holds ? ['Calls wait for approval'] : []),
    ].join(' · '),
    text: parts.join('\n\n'),
    link: { label: 'Open the result', url: `${uiOrigin}/p/${waiting.projectId}/runs/${waiting.runId}` },
  };
}

const OUTCOMES: Readonly<Record<string, string>> = {
  partial: 'Succeeded in part',
  nothing_to_report: 'Nothing to report',
};

/** Records the beginning of an attempt, so that it stays on record if the process dies. @returns its number, from 1 */
async function beginAttempt(db: Db, deliveryId: string): Promise<number> {
  return db.value<number>`
    with crashed as (
      update chat_attempts set error = 'the service broke it off; whether the chat got it is unknown'
      where delivery_id = ${deliveryId} and status is null and error is null
    )
    insert into chat_attempts (delivery_id, index)
    select ${deliveryId}, coalesce(max(index), 0) + 1 from chat_attempts where delivery_id = ${deliveryId}
    returning index
  `;
}

async function recordAttempt(
  db: Db,
  { id, index }: { readonly id: string; readonly index: number },
  { status, error, durationMs, responseExcerpt }: ChatExchange,
): Promise<void> {
  await db.run`
    update chat_attempts set status = ${status}, error = ${error}, duration_ms = ${durationMs},
      response_excerpt = ${responseExcerpt}
    where delivery_id = ${id} and index = ${index}
  `;
}

async function recordEnd(tx: Db, { key }: WorkItem, outcome: EndedWork): Promise<void> {
  const isDone = outcome.state === 'done';
  // Take the error of the last attempt as the reason if the error belongs to the closed list.
  const reason = isDone ? null : isFailure(outcome.error) ? outcome.error : 'retries_exhausted';
  await tx.run`
    update chat_deliveries set state = ${isDone ? 'delivered' : 'failed'}, reason = ${reason},
      finished_at = now()
    where id = ${key} and state = 'pending'
  `;
}

function isFailure(error: string): error is ChatFailure {
  return Object.hasOwn(CHAT_FAILURES, error);
}

/** Stops deliveries to a chat that no longer accepts its address, and mails the owners and admins once. */
function stopChat(
  database: Database,
  { chat, ...of }: Waiting & { readonly chat: NonNullable<Waiting['chat']> },
  why: string,
): Promise<void> {
  const { organizationId, projectId, routineId } = of;
  return transaction(database, async (tx) => {
    if (!(await markChatGone(tx, { id: of.chatId, projectId, sealedUrl: chat.sealedUrl, why }))) return;
    const { name } = chat;
    await enqueueMail(tx, {
      organizationId,
      projectId,
      routineId,
      runId: null,
      kind: 'chat_stopped',
      userIds: await findRecipients(tx, organizationId, 'admins'),
      content: {
        subject: `Results no longer reach a chat: ${name}`,
        lines: [
          `${sentence(`The chat "${name}" refuses its address for good (${why})`)} Results of "${of.routineName}" and of other routines are no longer sent to this chat.`,
          'Make a new incoming webhook in the chat and save its address. To send a result that was not delivered, open the page of its run.',
        ],
        path: `/p/${projectId}/settings?tab=notifications`,
        button: 'Give it another address',
      },
    });
  });
}

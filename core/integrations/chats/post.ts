import type { Core } from '#core/core.ts';
import { judgeChat, renderChat, type ChatKind, type ChatMessage, type ChatVerdict } from '#core/clients/chats/index.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { postJson, type Exchange } from '#lib/outbound/index.ts';
import { placeOfAddress } from './chats.ts';

/** Outcome of a post; `error` is null only for a message that was delivered. */
export interface ChatExchange extends Exchange {
  readonly verdict: ChatVerdict;
}

/** Posts a message to a chat, once. Never throws for a response of the chat: a refusal is an outcome too. */
export async function postToChat(
  { outbound, secrets }: Pick<Core, 'outbound' | 'secrets'>,
  chat: { readonly id: string; readonly kind: ChatKind; readonly sealedUrl: string },
  message: ChatMessage,
  signal?: AbortSignal,
): Promise<ChatExchange> {
  const url = secrets.open(chat.sealedUrl, placeOfAddress(chat.id));
  const { body, ...exchange } = await postJson(outbound, { url, body: renderChat(chat.kind, message), signal });
  const { status, error } = exchange;
  if (status === null) return { ...exchange, verdict: { state: 'retry', why: error ?? '' } };
  const verdict = judgeChat(chat.kind, { status, body: body.toString('utf8') });
  if (verdict.state === 'delivered') return { ...exchange, error: null, verdict };
  const why = verdict.why === String(status) ? '' : `: ${verdict.why}`;
  return { ...exchange, error: `the chat responded with ${status}${why}`, verdict };
}

const TESTS: ThrottleRule = { name: 'chat-test', limit: 10, windowSeconds: 60 };

/** Posts a test message, once. The test is not recorded. @throws {AppError} `chat_not_found`, `rate_limited` */
export async function sendTestMessage(
  core: Pick<Core, 'database' | 'outbound' | 'secrets' | 'uiOrigin'>,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<ChatExchange> {
  const { database } = core;
  const chat = await database.rowOr<{ id: string; kind: ChatKind; sealedUrl: string }>('chat_not_found')`
    select id, kind, sealed_url as "sealedUrl" from chats where id = ${id} and project_id = ${projectId}
  `;
  await assertWithinLimit(database, TESTS, id, 'Too many test messages for this chat.');
  return postToChat(core, chat, {
    title: 'Test message',
    facts: 'Results of routines will arrive here.',
    text: '',
    link: { label: 'Open the dashboard', url: core.uiOrigin },
  });
}

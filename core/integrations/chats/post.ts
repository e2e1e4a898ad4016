import type { Core } from '#core/core.ts';
import { judgeChat, renderChat, type ChatKind, type ChatMessage, type ChatVerdict } from '#core/clients/chats/index.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { now } from '#lib/clock.ts';
import { AppError } from '#lib/errors.ts';
import { OutboundError } from '#lib/outbound/index.ts';
import { parseRetryAfter } from '#lib/retry-after.ts';
import { utf8Start } from '#lib/text.ts';
import { placeOfAddress } from './chats.ts';

const TIMEOUT_MS = 20_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const EXCERPT_BYTES = 1_024;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** Outcome of a post. */
export interface ChatExchange {
  readonly verdict: ChatVerdict;
  readonly status: number | null;
  /** Why the post was not delivered; null when it was. */
  readonly error: string | null;
  readonly responseExcerpt: string | null;
  readonly durationMs: number;
  readonly retryAfterMs: number | undefined;
}

/**
 * Posts a message to a chat, once. Any response of the chat is an outcome, never an error; a redirect is not followed.
 */
export async function postToChat(
  { outbound, secrets }: Pick<Core, 'outbound' | 'secrets'>,
  chat: { readonly id: string; readonly kind: ChatKind; readonly sealedUrl: string },
  message: ChatMessage,
  signal?: AbortSignal,
): Promise<ChatExchange> {
  const started = performance.now();
  const durationMs = () => Math.round(performance.now() - started);
  try {
    const response = await outbound.request({
      url: secrets.open(chat.sealedUrl, placeOfAddress(chat.id)),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: renderChat(chat.kind, message),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      onOverflow: 'truncate',
      ...(signal === undefined ? {} : { signal }),
    });
    const { status } = response;
    const verdict = judgeChat(chat.kind, { status, body: response.body.toString('utf8') });
    return {
      verdict,
      status,
      error: verdict.state === 'delivered' ? null : `the chat responded with ${status}: ${verdict.why}`,
      responseExcerpt: utf8Start(response.body, EXCERPT_BYTES).replaceAll('\u0000', ''),
      durationMs: durationMs(),
      retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), {
        now: new Date(now()),
        maxMs: MAX_RETRY_AFTER_MS,
      }),
    };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return {
      verdict: { state: 'retry', why: error.code },
      status: null,
      error: error.message,
      responseExcerpt: null,
      durationMs: durationMs(),
      retryAfterMs: undefined,
    };
  }
}

const TESTS: ThrottleRule = { name: 'chat-test', limit: 10, windowSeconds: 60 };

/** Posts a test message, once. The test is not recorded. @throws {AppError} `chat_not_found`, `rate_limited` */
export async function sendTestMessage(
  core: Pick<Core, 'database' | 'outbound' | 'secrets' | 'uiOrigin'>,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<ChatExchange> {
  const { database } = core;
  const chat = await database.row<{ id: string; kind: ChatKind; sealedUrl: string }>`
    select id, kind, sealed_url as "sealedUrl" from chats where id = ${id} and project_id = ${projectId}
  `;
  if (chat === undefined) throw new AppError('chat_not_found');
  await assertWithinLimit(database, TESTS, id, 'Too many test messages for this chat.');
  return postToChat(core, chat, {
    title: 'Test message',
    facts: 'Results of routines will arrive here.',
    text: '',
    link: { label: 'Open the dashboard', url: core.uiOrigin },
  });
}

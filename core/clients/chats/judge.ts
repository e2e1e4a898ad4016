import type { ChatKind } from './address.ts';

/**
 * Meaning of a chat's response: `gone` when the address will never work again, `refused` when the chat cannot take this
 * message, `retry` when a later attempt may succeed. `why` is the chat's own name for the fault, or the HTTP status.
 */
export type ChatVerdict =
  | { readonly state: 'delivered' }
  | { readonly state: 'gone' | 'refused' | 'retry'; readonly why: string };

/** Judges a response. Slack and Teams may put an error into the body of a 200. */
export function judgeChat(
  kind: ChatKind,
  { status, body }: { readonly status: number; readonly body: string },
): ChatVerdict {
  // A firewall on the way refuses with a page, or with code 40333 of Discord.
  if ((status === 401 || status === 403) && /^\s*<|"code"\s*:\s*40333\b/.test(body)) {
    return { state: 'retry', why: 'refused by a firewall' };
  }
  const fault = FAULTS[kind](status, body.trim());
  return fault ?? (status >= 200 && status <= 299 ? { state: 'delivered' } : byStatus(status));
}

const FAULTS: Readonly<Record<ChatKind, (status: number, body: string) => ChatVerdict | undefined>> = {
  slack: slackFault,
  teams: teamsFault,
  // Discord responds 204 without a body, and reports errors by their status.
  discord: () => undefined,
  google_chat: (status, body) =>
    status === 200 && !/"name"\s*:\s*"spaces\//.test(body)
      ? { state: 'retry', why: 'the chat made no message' }
      : undefined,
};

/** Slack's words for an address that has ended, and for a message that it cannot read. */
const GONE_WORDS = new Set(
  (
    'no_service no_service_id no_team team_disabled invalid_token no_active_hooks action_prohibited channel_not_found ' +
    'channel_is_archived user_not_found posting_to_general_channel_denied'
  ).split(' '),
);
const REFUSED_WORDS = new Set(['invalid_payload', 'invalid_blocks', 'no_text', 'too_many_attachments']);

function slackFault(status: number, body: string): ChatVerdict | undefined {
  const word = /^[a-z_]{1,60}$/.exec(body)?.[0];
  if (word !== undefined && GONE_WORDS.has(word)) return { state: 'gone', why: word };
  if (word !== undefined && REFUSED_WORDS.has(word)) return { state: 'refused', why: word };
  if (status !== 200 || body === 'ok') return undefined;
  return { state: 'retry', why: word ?? 'not "ok"' };
}

/**
 * A workflow that was deleted or turned off responds with 400. A connector reports the error of the channel behind it
 * in the body of a 200.
 */
function teamsFault(status: number, body: string): ChatVerdict | undefined {
  if (/"WorkflowTriggerIsNotEnabled"/.test(body))
    return { state: 'gone', why: 'the workflow of the chat was deleted or turned off' };
  if (status !== 200 || !/webhook message delivery failed/i.test(body)) return undefined;
  const behind = Number(/HTTP error (\d{3})/.exec(body)?.[1] ?? Number.NaN);
  return Number.isNaN(behind) ? { state: 'retry', why: 'delivery failed' } : byStatus(behind);
}

/** Statuses of a refused address: it was deleted, or its token is no longer valid. */
const GONE = new Set([401, 403, 404, 410]);
const REFUSED = new Set([400, 413, 415, 422]);

function byStatus(status: number): ChatVerdict {
  const why = String(status);
  if (GONE.has(status)) return { state: 'gone', why };
  return { state: REFUSED.has(status) ? 'refused' : 'retry', why };
}

import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import { GATE_TIMEOUT_MS, gateFailed, MAX_GATE_BODY, TOO_LARGE, TOO_SLOW, type GateResponse } from './response.ts';

const MAX_REDIRECTS = 3;

/** Length above which an entity tag is not stored. */
const MAX_TAG_LENGTH = 500;

/**
 * Makes the guarded GET of a gate. Redirects are followed under the same checks as the first address.
 * @param etag sent as `If-None-Match` (RFC 9110, section 13.1.2), so that an unchanged value is not sent again
 * @throws the signal's reason, when it was aborted
 */
export async function askUrl(
  outbound: Pick<OutboundClient, 'request'>,
  { url, etag, signal }: { url: string; etag: string | null; signal: AbortSignal },
): Promise<GateResponse> {
  const { origin, pathname } = new URL(url);
  const call = { tool: null, url: `${origin}${pathname}`, status: null, sent: true };
  try {
    const { status, headers, body } = await outbound.request({
      url,
      headers: {
        accept: 'application/json, text/*;q=0.9, */*;q=0.5',
        ...(etag === null ? {} : { 'if-none-match': etag }),
      },
      timeoutMs: GATE_TIMEOUT_MS,
      maxResponseBytes: MAX_GATE_BODY,
      maxRedirects: MAX_REDIRECTS,
      signal,
    });
    const answered = { ...call, status };
    if (status === 304 && etag !== null) return { call: answered, outcome: { kind: 'not_modified' } };
    if (status < 200 || status > 299) {
      return { call: answered, outcome: gateFailed('status', `The address responded with ${status}.`) };
    }
    const tag = headers.get('etag');
    const outcome = { kind: 'body', text: new TextDecoder().decode(body) } as const;
    return { call: answered, outcome: { ...outcome, etag: tag === null || tag.length > MAX_TAG_LENGTH ? null : tag } };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof OutboundError)) throw error;
    return { call: { ...call, sent: error.mayHaveArrived }, outcome: faultOf(error) };
  }
}

function faultOf({ code, message }: OutboundError) {
  if (code === 'timeout') return TOO_SLOW;
  return code === 'response_too_large' ? TOO_LARGE : gateFailed('unreachable', `${message}.`);
}

import { call, type CallContext } from './call.ts';
import { OutboundError } from './errors.ts';
import { readOutgoing } from './exchange.ts';
import { checkedUrl } from './urls.ts';

export interface OutboundRequestOptions {
  url: string | URL;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Limits the whole exchange, from name resolution to the last byte. Default 20 seconds. */
  timeoutMs?: number;
  /** Limit after decompression. Default 1 MiB. */
  maxResponseBytes?: number;
  /**
   * `error` (default) fails with `response_too_large`; `truncate` stops reading there and closes
   * the connection.
   */
  onOverflow?: 'error' | 'truncate';
  /**
   * Default 0: a redirect is returned like any other response. Otherwise one more than this is
   * `redirect_refused`.
   */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Headers;
  body: Buffer;
  truncated: boolean;
  /** URL that the response came from, after redirects. */
  url: string;
  durationMs: number;
}

/**
 * Makes one exchange and reads it to its end. Any status is a response; throws `OutboundError` when
 * there is none.
 */
export async function sendRequest(options: OutboundRequestOptions, context: CallContext): Promise<OutboundResponse> {
  const startedAt = performance.now();
  const { method = 'GET', headers = {}, body = null, signal, maxRedirects = 0 } = options;
  const url = checkedUrl(options.url, context.allowPrivateNetwork);
  const outgoing = await readOutgoing(url, undefined, { method, headers, body });
  try {
    const answer = await call(
      outgoing,
      {
        timeoutMs: options.timeoutMs ?? 20_000,
        maxResponseBytes: options.maxResponseBytes ?? 1024 * 1024,
        onOverflow: options.onOverflow ?? 'error',
        redirects: maxRedirects === 0 ? 'return' : maxRedirects,
        signal,
      },
      context,
    );
    return {
      status: answer.status,
      headers: answer.headers,
      body: answer.body === null ? Buffer.alloc(0) : await readAll(answer.body),
      truncated: answer.isTruncated(),
      url: answer.url.href,
      durationMs: Math.round(performance.now() - startedAt),
    };
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    throw new OutboundError('aborted', 'cancelled by the caller', { host: url.host });
  }
}

async function readAll(body: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

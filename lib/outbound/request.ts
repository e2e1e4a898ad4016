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
  /** The most bytes of the response after decompression. Default 1 MiB. */
  maxResponseBytes?: number;
  /**
   * `error` (default) fails with `response_too_large`; `truncate` stops reading at the limit and closes the connection.
   */
  onOverflow?: 'error' | 'truncate';
  /**
   * Time for the body after the status. A body that takes longer is cut, and a body that breaks off is accepted. If no
   * time is given, a slow or broken body fails the exchange.
   */
  cutBodyAfterMs?: number;
  /**
   * The most redirects that are followed. By default none is followed: a redirect is returned like any other response.
   * With a higher limit, one redirect beyond the limit fails with `redirect_refused`.
   */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Headers;
  body: Buffer;
  truncated: boolean;
  /** Address of the response, after redirects. */
  url: string;
  durationMs: number;
}

/**
 * Makes one exchange and reads it to its end. Any status is a response; without a response it throws `OutboundError`.
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
    const { cutBodyAfterMs } = options;
    const read = cutBodyAfterMs === undefined ? readAll : (body: Body) => readWhatComes(body, cutBodyAfterMs);
    const { body: bytes, whole } =
      answer.body === null ? { body: Buffer.alloc(0), whole: true } : await read(answer.body);
    return {
      status: answer.status,
      headers: answer.headers,
      body: bytes,
      truncated: answer.isTruncated() || !whole,
      url: answer.url.href,
      durationMs: Math.round(performance.now() - startedAt),
    };
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    throw new OutboundError('aborted', 'cancelled by the caller', { host: url.host });
  }
}

type Body = ReadableStream<Uint8Array>;

interface ReadBody {
  readonly body: Buffer;
  /** True when the body is complete, and false when it broke off or was cut. */
  readonly whole: boolean;
}

async function readAll(body: Body): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { body: Buffer.concat(chunks), whole: true };
}

/** Reads a body for a limited time, and closes the connection if the body has not ended by then. */
async function readWhatComes(body: Body, milliseconds: number): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  const reader = body.getReader();
  let whole = true;
  const timer = setTimeout(() => {
    whole = false;
    void reader.cancel().catch(() => undefined);
  }, milliseconds);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) chunks.push(part.value);
  } catch {
    whole = false;
  } finally {
    clearTimeout(timer);
  }
  return { body: Buffer.concat(chunks), whole };
}

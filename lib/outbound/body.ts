import type { Response } from 'undici';
import { exchangeFault, OutboundError } from './errors.ts';

export interface BodyLimit {
  host: string;
  signal: AbortSignal;
  /** The most bytes after decompression. */
  maxBytes: number;
  /** Behaviour at the limit: `error` fails; `truncate` ends the body and closes the connection. */
  onOverflow: 'error' | 'truncate';
  /** Called once, even when the body fails or is cancelled. */
  onEnd: (end: BodyEnd) => void;
}

export type BodyEnd =
  /** The body was read to its end, cut off at the limit, or cancelled by its reader. */
  { how: 'complete' | 'truncated' | 'cancelled' } | { how: 'failed'; fault: unknown };

/**
 * Returns the response's body as a stream that ends at the limit and fails with `OutboundError`. undici closes the
 * connection of a response that becomes garbage while its body is not locked. So the stream keeps the response alive: a
 * body read late would otherwise be empty. The stream locks the body only at the first read: a response that is never
 * read would otherwise hold its connection.
 */
export function limitedBody(response: Response, limit: BodyLimit): ReadableStream<Uint8Array> | null {
  const { body } = response;
  if (body === null) {
    limit.onEnd({ how: 'complete' });
    return null;
  }
  const kept = { response, body };
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const openReader = (): ReadableStreamDefaultReader<Uint8Array> => (reader ??= kept.body.getReader());
  let room = limit.maxBytes;

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await openReader().read();
          if (done) {
            limit.onEnd({ how: 'complete' });
            controller.close();
          } else if (value.byteLength <= room) {
            room -= value.byteLength;
            controller.enqueue(value);
          } else {
            await openReader().cancel();
            if (limit.onOverflow === 'error') {
              const { host, maxBytes } = limit;
              throw new OutboundError('response_too_large', `the answer has more than ${maxBytes} bytes`, { host });
            }
            limit.onEnd({ how: 'truncated' });
            controller.enqueue(value.subarray(0, room));
            controller.close();
          }
        } catch (error) {
          const { aborted, reason } = limit.signal;
          const fault: unknown = aborted ? reason : exchangeFault(error, limit.host);
          limit.onEnd({ how: 'failed', fault });
          controller.error(fault);
        }
      },
      async cancel(reason) {
        limit.onEnd({ how: 'cancelled' });
        await openReader().cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

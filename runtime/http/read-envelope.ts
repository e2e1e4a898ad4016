import type { IncomingMessage } from 'node:http';
import { MAX_ENVELOPE_BYTES } from '#lib/envelope/index.ts';

/** Reads the body up to what an envelope may have. @returns undefined when it is larger, or did not arrive whole */
export async function readEnvelope(
  request: IncomingMessage,
): Promise<{ readonly text: string } | 'too_large' | 'broken'> {
  // Refused by what it announces, before any of it is read.
  if (Number(request.headers['content-length'] ?? 0) > MAX_ENVELOPE_BYTES) return 'too_large';
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ENVELOPE_BYTES) return 'too_large';
      chunks.push(chunk);
    }
  } catch {
    return 'broken';
  }
  return { text: Buffer.concat(chunks).toString('latin1') };
}

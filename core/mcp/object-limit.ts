import { ToolServerError } from './error.ts';

/** The byte of `{`, which JSON has for each object and in no other guise; in a string it counts too. */
const OPENING_BRACE = 0x7b;

/**
 * Breaks a response off when it holds more JSON objects than this. Bytes alone do not bound the work: 4 MiB are 95,000
 * tiny tools, which take the event loop half a second to parse and check.
 * @throws {ToolServerError} `too_large`, to whoever reads the body
 */
export function limitObjects(response: Response, maxObjects: number): Response {
  if (response.body === null) return response;
  let left = maxObjects;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (const byte of chunk) if (byte === OPENING_BRACE) left -= 1;
        if (left < 0) controller.error(new ToolServerError('too_large'));
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}

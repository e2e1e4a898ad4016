import { ToolServerError } from './error.ts';

/** Limits of the JSON of one response. */
export interface JsonLimits {
  readonly objects: number;
  /** Number of members, items, objects and lists together. */
  readonly values: number;
}

/**
 * Breaks off a response whose JSON exceeds the limits, before it is parsed. A limit on bytes is not enough: 4 MiB can
 * be 95,000 tiny tools or two million numbers, which take the event loop seconds to parse and check.
 * @throws {ToolServerError} `too_large`, to the reader of the body
 */
export function limitJson(
  response: Response,
  limits: JsonLimits,
  onExceeded: (error: ToolServerError) => void,
): Response {
  if (response.body === null) return response;
  const count = createCounter();
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const { objects, values } = count(chunk);
        if (objects <= limits.objects && values <= limits.values) {
          controller.enqueue(chunk);
          return;
        }
        const error = new ToolServerError('too_large');
        onExceeded(error);
        controller.error(error);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}

/**
 * Match the next character that matters, inside and outside of a string. The search of a pattern skips other characters
 * quickly.
 */
const WITHIN_STRING = /["\\\n\r]/g;
const OUTSIDE = /["{[,]/g;

/**
 * Makes a counter that continues with each chunk. A JSON string never spans lines, so each line begins outside of a
 * string, even in an event stream.
 */
function createCounter(): (chunk: Uint8Array) => JsonLimits {
  let inString = false;
  let isEscaped = false;
  let objects = 0;
  let values = 0;
  return ({ buffer, byteOffset, byteLength }) => {
    // Read bytes as characters: in UTF-8, no byte of JSON's syntax is part of another character.
    const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
    for (let at = 0; at < text.length;) {
      if (isEscaped) {
        isEscaped = false;
        // The end of a line ends the string even without a quote.
        inString = text[at] !== '\n' && text[at] !== '\r';
        at += 1;
        continue;
      }
      const pattern = inString ? WITHIN_STRING : OUTSIDE;
      pattern.lastIndex = at;
      if (!pattern.test(text)) break;
      at = pattern.lastIndex;
      const sign = text[at - 1];
      if (inString) {
        isEscaped = sign === '\\';
        inString = isEscaped;
      } else if (sign === '"') {
        inString = true;
      } else {
        values += 1;
        if (sign === '{') objects += 1;
      }
    }
    return { objects, values };
  };
}

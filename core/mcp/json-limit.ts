import { ToolServerError } from './error.ts';

/** How much JSON a response may hold. */
export interface JsonLimits {
  readonly objects: number;
  /** Members of objects and items of lists, and what holds them. */
  readonly values: number;
}

/**
 * Breaks a response off where it holds more JSON than this, before anybody parses it. Bytes alone do not bound the work:
 * 4 MiB are 95,000 tiny tools or two million numbers, which take the event loop seconds to parse and check.
 * @throws {ToolServerError} `too_large`, to whoever reads the body
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Makes a function that counts on with each chunk. No string of JSON goes over the end of a line, so each line begins
 * outside of one: nothing in an event stream, whose other lines hold anything, makes it take the one for the other.
 */
function createCounter(): (chunk: Uint8Array) => JsonLimits {
  let inString = false;
  let isEscaped = false;
  let objects = 0;
  let values = 0;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
        inString = false;
        isEscaped = false;
      } else if (isEscaped) {
        isEscaped = false;
      } else if (byte === QUOTE) {
        inString = !inString;
      } else if (inString) {
        isEscaped = byte === BACKSLASH;
      } else if (byte === OPENING_BRACE) {
        objects += 1;
        values += 1;
      } else if (byte === OPENING_BRACKET || byte === COMMA) {
        values += 1;
      }
    }
    return { objects, values };
  };
}

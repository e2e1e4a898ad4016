import { request, type Dispatcher } from 'undici';
import { ModelFailure } from './model-failure.ts';

/** A completion is text that a person could read; an answer beyond this is a fault of the provider. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * `fetch` as far as the model library uses it for a whole answer: the body is read here, up to a limit, and redirects
 * are answers like any other. It is cheaper than undici's own fetch, whose streams a whole answer
 * does not need.
 * @param read what is made of a body before the library sees it
 */
export function boundedFetch(
  dispatcher: Dispatcher,
  read: (body: string) => string = (body) => body,
): typeof fetch {
  const bounded = async (url: string, init: BoundedInit): Promise<Response> => {
    const { statusCode, headers, body } = await request(url, { ...init, dispatcher });
    const text = read(await readBounded(body));
    const flat = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    );
    // Not even an empty text may go with a status that has no body.
    return new Response(text === '' ? null : text, { status: statusCode, headers: flat });
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library calls it with an address and a text only
  return bounded as unknown as typeof fetch;
}

interface BoundedInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

async function readBounded(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ModelFailure) throw error;
    throw new ModelFailure('model_unreachable', 'The model provider broke off the call.', {
      retryable: true,
    });
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

function tooLarge(): ModelFailure {
  return new ModelFailure('model_malformed', 'The answer of the model is too large.', {
    retryable: false,
  });
}

import { request, type Dispatcher } from 'undici';
import { ModelFailure } from './model-failure.ts';

/** Limit of a response: a completion is text that a person could read, so a longer one is the provider's error. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Returns the part of `fetch` that the model library uses for a response that is not streamed: it reads the body
 * itself, up to a limit, and follows no redirects. It is cheaper than undici's own fetch, which builds streams for
 * every response.
 * @param read rewrites a body before the library sees it
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
    // A status that has no body refuses even an empty text.
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

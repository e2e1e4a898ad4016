import { request } from 'node:http';
import { Readable } from 'node:stream';
import { parseExact } from '#lib/exact-json/parse.ts';

/**
 * Returns the part of `fetch` that the model library uses, through the broker's socket, the only way out of a session.
 * The path is always the allowed one, whichever the library requests, and fields that the provider does not accept are
 * removed from the body.
 */
export function brokerFetch({
  socketPath,
  path,
  omit,
}: {
  readonly socketPath: string;
  readonly path: string;
  readonly omit: readonly string[];
}): typeof fetch {
  return (_input, init) => {
    const body = without(omit, init?.body);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          socketPath,
          path,
          method: init?.method ?? 'POST',
          headers: {
            accept: 'text/event-stream',
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          },
          signal: init?.signal ?? undefined,
        },
        (response) => {
          const headers = Object.entries(response.headers).flatMap(([name, value]) =>
            [value ?? []].flat().map((one): [string, string] => [name, one]),
          );
          const status = response.statusCode ?? 502;
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node's own stream class, under two names
          const stream = Readable.toWeb(response) as ReadableStream<Uint8Array>;
          resolve(new Response(stream, { status, headers }));
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  };
}

function without(omit: readonly string[], body: unknown): string {
  const text = typeof body === 'string' ? body : '';
  if (omit.length === 0) return text;
  const fields = Object.entries(Object(parseExact(text)));
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !omit.includes(name))));
}

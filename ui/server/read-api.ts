import { z } from 'zod';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Api } from './api.ts';

export interface ApiResponse {
  readonly status: number;
  /** The parsed envelope; null if there is none. */
  readonly body: { readonly data?: unknown; readonly error?: { readonly code: string } } | null;
  readonly setCookies: readonly string[];
}

const envelope = z.object({
  data: z.unknown().optional(),
  error: z.object({ code: z.string() }).optional(),
});

/** Limit of a response, far above any response that this server itself reads. */
const MAX_BYTES = 1_000_000;

/** Reads a small JSON response of the API. */
export async function readApi(api: Api, target: string, headers: OutgoingHttpHeaders = {}): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const request = api.request(target, {
      method: 'GET',
      headers: { ...headers, accept: 'application/json' },
    });
    request.once('timeout', () => request.destroy(new Error('No response in time.')));
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (text.length > MAX_BYTES) request.destroy(new Error('The response is too long.'));
      });
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 502,
          body: parse(text),
          setCookies: response.headers['set-cookie'] ?? [],
        }),
      );
    });
    request.end();
  });
}

function parse(text: string): ApiResponse['body'] {
  try {
    const parsed = envelope.safeParse(JSON.parse(text));
    return parsed.success ? { data: parsed.data.data, ...errorOf(parsed.data) } : null;
  } catch {
    return null;
  }
}

function errorOf({ error }: z.output<typeof envelope>) {
  return error === undefined ? {} : { error };
}

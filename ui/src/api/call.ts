import createClient from 'openapi-fetch';
import { parseExact } from '#ui/format/exact-number.ts';
import { ApiError, errorOf, unproven, unreachable } from './error.ts';
import type { paths } from './schema.d.ts';
import type { DataOf, InputOf, Method } from './types.ts';

/**
 * A success with the values of its headers. If two replies are equal, the cache keeps the first, so nothing is redrawn.
 */
export interface Reply<D> {
  readonly data: D;
  /** The response's `ETag`, to be sent as `If-Match`; undefined if the operation has none. */
  readonly etag: string | undefined;
  /** Cursor of the next page of a list; undefined on the last page. */
  readonly nextCursor: string | undefined;
}

export interface CallOptions {
  /** Sent as `X-Project-Id` with each request, so that two tabs can show two projects. */
  readonly projectId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly ifMatch?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

const client = createClient<paths>({ baseUrl: '' });

/**
 * Calls an operation. If the API demands a proof of identity, asks the person for it and repeats the call.
 * @throws {ApiError}
 */
export async function call<P extends keyof paths, M extends Method>(
  method: M,
  path: P,
  input: InputOf<P, M>,
  options: CallOptions = {},
): Promise<Reply<DataOf<P, M>>> {
  try {
    return await callOnce(method, path, input, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'reauthentication_required') throw error;
    if (!(await askForProof())) throw unproven(error);
    return callOnce(method, path, input, options);
  }
}

async function callOnce<P extends keyof paths, M extends Method>(
  method: M,
  path: P,
  input: InputOf<P, M>,
  options: CallOptions,
): Promise<Reply<DataOf<P, M>>> {
  const given: { path?: unknown; query?: unknown; body?: unknown } = input;
  const { signal, projectId, ifMatch, idempotencyKey } = options;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `InputOf` has checked what the library would check by its own types
  const request = client.request as unknown as UntypedRequest;
  const { response, error } = await request(method, path, {
    params: { path: given.path, query: given.query },
    // Send an empty object without a body, because every POST of the API takes a JSON object.
    body: given.body ?? (method === 'post' ? {} : undefined),
    headers: {
      Accept: 'application/json',
      'X-Project-Id': projectId,
      'If-Match': ifMatch,
      'Idempotency-Key': idempotencyKey,
    },
    parseAs: 'stream',
    signal,
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw unreachable();
  });
  if (!response.ok) throw errorOf(response, error);
  return replyOf(response, await bodyOf(response));
}

type UntypedRequest = (method: string, path: string, init: object) => Promise<{ response: Response; error?: unknown }>;

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === '' ? null : parseExact(text);
}

function replyOf<D>(response: Response, body: unknown): Reply<D> {
  const isEnvelope = typeof body === 'object' && body !== null && 'data' in body && 'requestId' in body;
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the API checks its responses against the document that the types come from
    data: (isEnvelope ? body.data : body) as D,
    etag: response.headers.get('etag') ?? undefined,
    nextCursor: nextCursorOf(response.headers.get('link')),
  };
}

/** Reads the cursor from the header `Link: <…?cursor=…>; rel="next"`. */
export function nextCursorOf(link: string | null): string | undefined {
  const target = /<([^>]+)>\s*;\s*rel="next"/.exec(link ?? '')?.[1];
  if (target === undefined) return undefined;
  return new URL(target).searchParams.get('cursor') ?? undefined;
}

/** Asks the person to prove who they are; resolves with false when the person declines. */
type AskForProof = () => Promise<boolean>;

let asker: AskForProof | undefined;
let asked: Promise<boolean> | undefined;

/** Sets the dialog that asks for the proof. Returns a function that removes the dialog. */
export function answerProofsBy(ask: AskForProof): () => void {
  asker = ask;
  return () => {
    if (asker === ask) asker = undefined;
  };
}

/** Asks once for all requests that need a proof at the same time. */
async function askForProof(): Promise<boolean> {
  if (asker === undefined) return false;
  asked ??= asker().finally(() => {
    asked = undefined;
  });
  return asked;
}

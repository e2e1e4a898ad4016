export interface Limits {
  readonly limit: number;
  readonly remaining: number;
  /** Undefined if the service is older and does not send the header. */
  readonly resetSeconds: number | undefined;
}

/** A success with its metadata. */
export interface Reply<T> {
  readonly data: T;
  readonly status: number;
  /** Id of the request in the logs of the service. */
  readonly requestId: string | undefined;
  /** Version of the data, for `ifMatch`. */
  readonly etag: string | undefined;
  /** Requests allowed per minute, the remaining ones, and the seconds until the minute ends. */
  readonly limits: Limits | undefined;
  /** Address of the created resource. */
  readonly location: string | undefined;
  /** True for a stored response to an earlier call with the same idempotency key. */
  readonly replayed: boolean;
  /** Cursor of the next page of a list. */
  readonly nextCursor: string | undefined;
}

/** A running call: a promise of its data. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #reply: Promise<Reply<T>>;

  constructor(reply: Promise<Reply<T>>) {
    this.#reply = reply;
  }

  /** Resolves with the data and its metadata. */
  withResponse(): Promise<Reply<T>> {
    return this.#reply;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<A = T, B = never>(
    fulfilled?: ((data: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#data().then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#data().catch(rejected);
  }

  finally(settled?: (() => void) | null): Promise<T> {
    return this.#data().finally(settled);
  }

  /** Creates the promise on demand: a rejected promise that no caller awaits would count as an unhandled rejection. */
  async #data(): Promise<T> {
    const { data } = await this.#reply;
    return data;
  }
}

/** Reads the metadata of a success from its headers. */
export function replyOf<T>({ status, headers }: Response, data: T): Reply<T> {
  const limit = headers.get('x-ratelimit-limit');
  return {
    data,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    etag: headers.get('etag') ?? undefined,
    limits: limit === null ? undefined : limitsOf(Number(limit), headers),
    location: headers.get('location') ?? undefined,
    replayed: headers.get('idempotent-replayed') === 'true',
    nextCursor: nextCursorOf(headers.get('link')),
  };
}

function limitsOf(limit: number, headers: Headers): Limits {
  const reset = headers.get('x-ratelimit-reset');
  const remaining = Number(headers.get('x-ratelimit-remaining'));
  return { limit, remaining, resetSeconds: reset === null ? undefined : Number(reset) };
}

/** Reads the cursor from the header `Link: <…?cursor=…>; rel="next"`. */
function nextCursorOf(link: string | null): string | undefined {
  const cursor = /<[^>]*[?&]cursor=([^&>]+)[^>]*>\s*;\s*rel="next"/.exec(link ?? '')?.[1];
  return cursor === undefined ? undefined : decodeURIComponent(cursor);
}

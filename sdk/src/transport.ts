import { Call, replyOf, type Reply } from './call.ts';
import { apiError, ConnectionError, fieldsOf, RasError, TimeoutError } from './errors.ts';
import { parseExact } from './exact.ts';
import { OPERATIONS } from './generated/operations.ts';
import { Pages } from './pages.ts';
import { isRepeatable, pause, pauseBefore } from './retry.ts';
import type { CreateOptions, Data, Item, OperationId, PutOptions, ReadRunOptions } from './types.ts';

export interface Settings {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly exactNumbers: boolean;
}

/** Parts of a call; the ids fill the placeholders of its path in order. */
export interface Input extends CreateOptions, PutOptions, ReadRunOptions {
  readonly ids?: readonly (string | number)[] | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
}

const NO_BODY = new Set(['GET', 'DELETE']);

/** Makes the calls, with credentials, retries, time limits, and one idempotency key for all attempts at a call. */
export class Transport {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  send<Id extends OperationId>(id: Id, input: Input = {}): Call<Data<Id>> {
    return new Call(this.#attempts<Data<Id>>(id, input));
  }

  /** Makes the calls of a list, each when its page is needed. */
  list<Id extends OperationId>(id: Id, input: Input = {}): Pages<Item<Id>> {
    return new Pages((cursor) =>
      this.#attempts<Item<Id>[]>(id, cursor === undefined ? input : { ...input, query: { ...input.query, cursor } }),
    );
  }

  /** Opens a stream of events, without a second attempt. @throws {ApiError} */
  async open(
    id: OperationId,
    { ids, signal }: Pick<Input, 'ids' | 'signal'>,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const { method, path } = OPERATIONS[id];
    const response = await this.#fetch(this.#address(path, { ids }), {
      method,
      headers: { ...this.#headers(), Accept: 'text/event-stream', ...headers },
      ...(signal === undefined ? {} : { signal }),
    }).catch((cause: unknown) => {
      throw new ConnectionError('The service cannot be reached.', { cause });
    });
    if (!response.ok) throw apiError(response, this.#json(await response.text().catch(() => '')));
    const type = response.headers.get('content-type') ?? '';
    if (response.status === 204 || type.startsWith('text/event-stream')) return response;
    throw new ConnectionError('The response is no stream of events.');
  }

  async #attempts<T>(id: OperationId, input: Input): Promise<Reply<T>> {
    const { maxRetries = this.#settings.maxRetries, signal } = input;
    const request = this.#request(id, input);
    const repeatable = isRepeatable(id, input);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#once<T>(request, input);
      } catch (error) {
        signal?.throwIfAborted();
        const pauseMs = pauseBefore(error, { repeatable, attempt });
        if (pauseMs === undefined || attempt >= maxRetries) throw error;
        await pause(pauseMs, signal);
      }
    }
  }

  #request(id: OperationId, { ids, query, body, ...input }: Input) {
    const { ifMatch, ifNoneMatch, idempotencyKey, waitSeconds } = input;
    const operation = OPERATIONS[id];
    const { method, path } = operation;
    const headers = this.#headers();
    if ('keyed' in operation) {
      headers['Idempotency-Key'] = idempotencyKey ?? globalThis.crypto.randomUUID();
    }
    if (ifMatch !== undefined) headers['If-Match'] = ifMatch;
    if (ifNoneMatch !== undefined) headers['If-None-Match'] = ifNoneMatch;
    if (waitSeconds !== undefined) headers['Prefer'] = `wait=${waitSeconds}, ${headers['Prefer']}`;
    const init: RequestInit = { method, headers };
    if (!NO_BODY.has(method)) {
      headers['Content-Type'] = 'application/json';
      init.body = JSON.stringify(body ?? {});
    }
    return { url: this.#address(path, { ids, query }), init };
  }

  async #once<T>(
    { url, init }: { url: string; init: RequestInit },
    { signal, timeoutMs = this.#settings.timeoutMs, waitSeconds = 0 }: Input,
  ): Promise<Reply<T>> {
    const timeout = AbortSignal.timeout(timeoutMs + waitSeconds * 1_000);
    try {
      const response = await this.#fetch(url, {
        ...init,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      const body = this.#json(await response.text());
      if (!response.ok) throw apiError(response, body);
      const fields = fieldsOf(body);
      if (!('data' in fields)) throw new ConnectionError('The response is none of the service.');
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service checks its responses against the document that the types come from
      return replyOf(response, fields['data'] as T);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RasError) throw error;
      if (timeout.aborted) {
        throw new TimeoutError(`No response within ${timeoutMs} ms.`, { cause: error });
      }
      throw new ConnectionError('The service cannot be reached.', { cause: error });
    }
  }

  /**
   * Parses a response of the service.
   * @throws {SyntaxError}
   */
  parse(text: string): unknown {
    return this.#settings.exactNumbers ? parseExact(text) : JSON.parse(text);
  }

  #json(text: string): unknown {
    try {
      return this.parse(text);
    } catch {
      return undefined;
    }
  }

  /** Does not follow redirects: they would leak the API key, or turn a POST into a GET. */
  #fetch(url: string, init: RequestInit): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#settings;
    return fetch(url, { ...init, redirect: 'manual' });
  }

  #headers(): Record<string, string> {
    const { apiKey } = this.#settings;
    return { Authorization: `Bearer ${apiKey}`, Accept: 'application/json', Prefer: 'error-details' };
  }

  #address(path: string, { ids = [], query = {} }: Pick<Input, 'ids' | 'query'>): string {
    let next = 0;
    const filled = path.replaceAll(/\{\w+\}/g, () => segment(ids[next++]));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.set(name, String(value));
    }
    return `${this.#settings.baseUrl}${filled}${search.size > 0 ? `?${search}` : ''}`;
  }
}

/** Writes an id into a path. An empty id, or dots, would lead to another operation. */
function segment(id: string | number | undefined): string {
  const text = String(id ?? '');
  if (/^\.{0,2}$/.test(text)) throw new RasError(`"${text}" is no id.`);
  return encodeURIComponent(text);
}

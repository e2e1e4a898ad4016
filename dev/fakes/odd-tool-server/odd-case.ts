/** An odd answer of a tool server, and the effects that a user must see. */
export interface OddCase {
  readonly name: string;
  /** True if the server issues session ids and refuses unknown ones. */
  readonly sessions?: true;
  /** Milliseconds that the server waits before each response, also to a notification; none by default. */
  readonly delayMs?: number;
  /** Returns the odd response to a request; undefined for the usual response. */
  reply(request: OddRequest): OddReply | undefined;
  /** Tools that one response of the model calls. By default a tool that reads and a tool that writes. */
  readonly calls?: readonly string[];
  readonly must: OddOutcome;
}

export interface OddRequest {
  /** `GET` for a client that resumes the stream of its last request. */
  readonly method: string;
  readonly id: number | string;
  /** Name of the called tool. */
  readonly tool: string;
  readonly cursor: string | undefined;
  /** Number of this request among those of its method, from 1. */
  readonly nth: number;
  /** Carries the call out. */
  act(): void;
  /** Forgets every session. */
  forget(): void;
}

/** A response: JSON with this status, or the text as it is. */
export interface OddReply {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
}

export interface OddOutcome {
  /** Words of the error that ends the discovery and the test. */
  readonly refused?: string;
  /** Listed tools in addition to the two usual ones. */
  readonly lists?: readonly string[];
  /** Tools that the list leaves out, each with its unreadable field. */
  readonly skips?: readonly (readonly [tool: string, field: string | null])[];
  /** Fields that a listed tool loses. */
  readonly drops?: readonly (readonly [tool: string, field: string])[];
  readonly truncated?: true;
  readonly circular?: true;
  /** Part of the warning that a person confirms with the tool. */
  readonly warns?: string;
  /** Expected state of each call. By default every call succeeds. */
  readonly steps?: readonly string[];
  /** Expected number of calls that the server carries out. By default it carries out each call once. */
  readonly acts?: number;
  /** Text about the last call that the model's prompt has to contain. */
  readonly told?: string;
}

/** The tools of every server in the table. */
export const READING = {
  name: 'read_page',
  description: 'Reads a page.',
  inputSchema: { type: 'object', properties: { page: { type: 'string' } } },
  annotations: { readOnlyHint: true },
};
export const WRITING = { name: 'place_order', description: 'Places an order.', inputSchema: { type: 'object' } };

export function answer({ id }: OddRequest, result: unknown): OddReply {
  return { body: { jsonrpc: '2.0', id, result } };
}

export function text(words: string): { readonly content: readonly object[] } {
  return { content: [{ type: 'text', text: words }] };
}

/** Makes the case of a server that carries calls out, and answers them with this result. */
export function resultCase(name: string, result: unknown, must: OddOutcome): OddCase {
  return {
    name,
    must,
    reply(request) {
      if (request.method !== 'tools/call') return undefined;
      request.act();
      return answer(request, result);
    },
  };
}

/** Makes the case of a server that gives this answer to one method. */
export function methodCase(
  name: string,
  method: string,
  reply: (request: OddRequest) => OddReply | undefined,
  must: OddOutcome = {},
): OddCase {
  return { name, must, reply: (request) => (request.method === method ? reply(request) : undefined) };
}

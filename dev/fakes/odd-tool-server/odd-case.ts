/** One way in which a tool server writes what others write otherwise, and what a user of it must see. */
export interface OddCase {
  readonly name: string;
  /** The server gives out session ids, and refuses requests of sessions that it does not know. */
  readonly sessions?: true;
  /** Returns its response to a request; undefined for the usual response. */
  reply(request: OddRequest): OddReply | undefined;
  /** Tools that one response of the model calls; by default a reading and a writing one. */
  readonly calls?: readonly string[];
  readonly must: OddOutcome;
}

export interface OddRequest {
  /** `GET` where the client goes on with the stream of its last request. */
  readonly method: string;
  readonly id: number | string;
  /** Name of the tool that is called. */
  readonly tool: string;
  readonly cursor: string | undefined;
  /** Requests of this method so far, from 1. */
  readonly nth: number;
  /** Carries the call out, for good. */
  act(): void;
  /** Forgets every session. */
  forget(): void;
}

/** A response: JSON of this status, or the text as it is. */
export interface OddReply {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
}

export interface OddOutcome {
  /** Words of the error with which the discovery ends, and with it the job. */
  readonly refused?: string;
  /** Tools that are listed beside the two usual ones. */
  readonly lists?: readonly string[];
  /** Tools that are left out, each with the field that cannot be read. */
  readonly skips?: readonly (readonly [tool: string, field: string | null])[];
  /** Fields without which a tool is listed. */
  readonly drops?: readonly (readonly [tool: string, field: string])[];
  readonly truncated?: true;
  readonly circular?: true;
  /** Part of the warning with which a tool is confirmed. */
  readonly warns?: string;
  /** State of each call; by default all succeed. */
  readonly steps?: readonly string[];
  /** Calls that the server carried out; by default each once. */
  readonly acts?: number;
  /** The text about the last call that the model gets. */
  readonly told?: string;
}

/** The tools that every server of the table has. */
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

/** Answers calls, which are carried out, with this result. */
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

/** Answers one method in this way. */
export function methodCase(
  name: string,
  method: string,
  reply: (request: OddRequest) => OddReply | undefined,
  must: OddOutcome = {},
): OddCase {
  return { name, must, reply: (request) => (request.method === method ? reply(request) : undefined) };
}

import type { ChatRequest } from '../gateway/request.ts';
import type { Reply } from '../gateway/reply.ts';
import type { Usage } from '../gateway/usage.ts';

/** Translates one protocol: its requests into chat completions, and responses into its server-sent events. */
export interface FixtureProtocol {
  readonly completionPath: string;
  /** Returns the credential of a request from the protocol's header. */
  credentialOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined;
  /**
   * Reads a request.
   * @throws for a request that the protocol does not allow
   */
  read(body: unknown): ChatRequest;
  /** Returns the events of a response; the last one ends it. */
  events(model: string, reply: Reply, usage: Usage): string[];
  /** Makes an error within a stream. */
  errorEvent(error: Readonly<Record<string, unknown>>): string;
  errorBody(type: string, message: string): unknown;
}

export function sse(data: unknown, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,40}/g) ?? [];
}

export function bearerOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const { authorization } = headers;
  return typeof authorization === 'string' ? /^Bearer (\S+)$/.exec(authorization)?.[1] : undefined;
}

/** A response of the odd server: a body that is sent as JSON, or a text as it is. */
export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly type?: string;
}

/** A response that never arrives whole: the connection breaks when the server has done its work. */
export const CUT = 'cut';

/** The answers in which a server differs from the rules. It keeps to the rules in everything left out. */
export interface Answers {
  /** Fields of the metadata of the tool server (RFC 9728) and of its authorization server (RFC 8414). */
  readonly resource?: (origin: string) => object;
  readonly server?: (origin: string) => object;
  /** True if the metadata is at OpenID Connect's place alone. */
  readonly oidcOnly?: boolean;
  /** The issuer in the response to the browser. */
  readonly iss?: (origin: string) => string;
  /** The answer to a registration, by that of an honest server. */
  readonly registration?: (client: object) => Answer;
  /** The answer to the code of a sign-in, by that of an honest server. */
  readonly tokens?: (tokens: object) => Answer;
  /** The answers to refreshes in their order, the last one again and again. */
  readonly refreshes?: readonly ((refresh: Refresh) => Answer | typeof CUT)[];
  /** True if a rotated refresh token works once more (a grace period). */
  readonly hasGrace?: boolean;
  /** True if the tool server takes no token that was renewed. */
  readonly refusesRenewed?: boolean;
  /** Calls of tools after which the grant is revoked. */
  readonly revokedAfterCalls?: number;
}

export interface Refresh {
  readonly parameters: URLSearchParams;
  /** Rotates, and returns the new tokens as an honest server sends them. */
  readonly rotate: () => object;
  /** Returns a new access token alone; the refresh token goes on. */
  readonly keep: () => object;
}

/** Answers with JSON. */
export function json(body: unknown, status = 200): Answer {
  return { status, body };
}

/** Answers a refresh as an honest server does, with other fields. */
export function renewed(fields: object = {}) {
  return ({ rotate }: Refresh): Answer => json({ ...rotate(), ...fields });
}

/** Answers a refresh without rotating. */
export function refuses(answer: Answer) {
  return (): Answer => answer;
}

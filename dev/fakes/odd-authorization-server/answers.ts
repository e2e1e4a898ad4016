/** A response of the odd server: a body as JSON, or a text as it is. */
export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly type?: string;
  /** True if the connection breaks in the middle of the body. */
  readonly isCut?: boolean;
}

/** A response that does not arrive: the connection breaks after the server has acted. */
export const CUT = 'cut';

/** The answers in which a server breaks the rules. A missing field means an answer by the rules. */
export interface Answers {
  /** Fields of the metadata of the tool server (RFC 9728) and of its authorization server (RFC 8414). */
  readonly resource?: (origin: string) => object;
  readonly server?: (origin: string) => object;
  /** True if only the address of OpenID Connect has the metadata. */
  readonly oidcOnly?: boolean;
  /** The answer at all addresses that do not exist; by default an empty 404. */
  readonly elsewhere?: Answer;
  /** The issuer in the response to the browser. */
  readonly iss?: (origin: string) => string;
  /** Turns an honest server's answer to a registration into the odd answer. */
  readonly registration?: (client: object) => Answer;
  /** Turns an honest server's answer to the code of a sign-in into the odd answer. */
  readonly tokens?: (tokens: object) => Answer;
  /** The answers to refreshes in order; the last one repeats. */
  readonly refreshes?: readonly ((refresh: Refresh) => Answer | typeof CUT)[];
  /** True if a rotated refresh token works once more (a grace period). */
  readonly hasGrace?: boolean;
  /** True if the tool server refuses renewed tokens. */
  readonly refusesRenewed?: boolean;
  /** The status with which the tool server refuses a token. By default 401. */
  readonly refusalStatus?: number;
  /** Number of tool calls after which the grant is revoked. */
  readonly revokedAfterCalls?: number;
}

export interface Refresh {
  readonly parameters: URLSearchParams;
  /** Rotates, and returns the new tokens as an honest server sends them. */
  readonly rotate: () => object;
  /** Returns a new access token alone; the refresh token stays valid. */
  readonly keep: () => object;
}

/** A page for people, where a program expects a document. */
export const PAGE = { status: 200, text: '<!doctype html><title>Sign in</title>', type: 'text/html' };

/** Writes fields as a form. */
export function formOf(fields: object): string {
  return new URLSearchParams({ ...fields } as Record<string, string>).toString();
}

export function json(body: unknown, status = 200): Answer {
  return { status, body };
}

/** Answers a refresh as an honest server does, with these fields changed. */
export function renewed(fields: object = {}) {
  return ({ rotate }: Refresh): Answer => json({ ...rotate(), ...fields });
}

/** Answers a refresh with this answer, and rotates no token. */
export function refuses(answer: Answer) {
  return (): Answer => answer;
}

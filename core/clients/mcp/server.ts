/** The parts of a tool server that its client needs. */
export interface ToolServer {
  /** Address of the MCP endpoint, with its whole query. */
  readonly url: string;
  readonly credentials: RequestCredentials;
}

/** Authenticates the requests to one server. */
export interface RequestCredentials {
  /**
   * Returns the headers for a request made now. Credentials that are about to expire are renewed first.
   * @throws {AppError} `connection_not_ready` without working credentials
   */
  headers(signal: AbortSignal): Promise<Record<string, string>>;
  /**
   * Notes that the server refused these headers: with a 401, or with a 403 for missing scopes. In the second case
   * `demandedScopes` has the scopes that the server names, perhaps none.
   * @param isSecond true for headers that came from an earlier refusal of the same request
   * @returns other headers to repeat the request with, once; undefined when there are none
   */
  refused(
    used: Readonly<Record<string, string>>,
    signal: AbortSignal,
    demandedScopes?: readonly string[],
    isSecond?: boolean,
  ): Promise<Record<string, string> | undefined>;
}

/**
 * Creates credentials that are always the same headers. When the server refuses them, there are no other headers to
 * try.
 */
export function fixedCredentials(headers: Readonly<Record<string, string>>): RequestCredentials {
  return { headers: async () => ({ ...headers }), refused: async () => undefined };
}

/** The server's unverified description of itself, cut to the length that a list can show. */
export interface ServerInfo {
  readonly name: string;
  readonly title: string | null;
  readonly version: string;
  readonly protocolVersion: string;
}

/**
 * Tells whether a server says by an HTTP status that it no longer knows the session of a request. MCP wants 404 then; 400
 * and 410 are common, and gateways say 401 to requests that carry no credentials.
 */
export function isStatusOfLostSession(status: number): boolean {
  return STATUSES.has(status);
}

const STATUSES: ReadonlySet<number> = new Set([400, 401, 404, 410]);

/**
 * Tells whether a JSON-RPC error speaks of a session that is gone: by its words, or by a code that servers use for it
 * where the words say nothing else.
 */
export function speaksOfLostSession(
  { code, message }: { readonly code: number; readonly message: string },
  { hasSession }: { readonly hasSession: boolean },
): boolean {
  const words = message.slice(0, MAX_LENGTH);
  if (LOST.test(words) || NO_SESSION.test(words) || NOT_INITIALIZED.test(words)) return true;
  return hasSession && CODES.has(code) && SAYS_NOTHING.test(words);
}

const MAX_LENGTH = 1_000;

const LOST =
  /\bsession\b[^.;\n]{0,80}?\b(?:not (?:be )?(?:found|known|exist|valid|active|recogni[sz]ed)|no(?:t any)? longer|unknown|unrecogni[sz]ed|expired|invalid|inactive|terminated|closed|ended|missing|required|gone|lost|stale|timed out|(?:does|did)(?: not|n't) exist|has been (?:deleted|removed))\b/i;
const NO_SESSION =
  /\b(?:no|unknown|invalid|expired|missing|stale|unrecogni[sz]ed|lost|without|bad|terminated|closed)(?: (?:a|an|or|any|such|valid|active|open|current|existing|expired|invalid|mcp))*[ -](?:mcp[ -])?session\b/i;
const NOT_INITIALIZED =
  /\b(?:(?:not|never)(?: been| yet)*|un)[ -]?initiali[sz]ed\b|\bbefore initiali[sz]|\binitiali[sz]ation (?:was|is) (?:not|in)[ -]?complete|\bmust (?:be )?initiali[sz]e|\binitiali[sz]e (?:the session )?first\b/i;

const CODES: ReadonlySet<number> = new Set([-32001, -32600]);
const SAYS_NOTHING = /^\W*(?:error|invalid request|bad request|not found|gone|unauthori[sz]ed)?\W*$/i;

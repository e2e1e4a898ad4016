import type { ToolServerError, ToolServerErrorKind } from '#core/mcp/index.ts';
import { AppError } from '#lib/errors.ts';

/** Returns the error for whoever names the address of a tool server that cannot be connected. */
export function refusal(error: ToolServerError): AppError {
  const passing = PASSING.has(error.kind);
  const hint = error.isDenial ? SIGN_IN_HINT : '';
  return new AppError(
    passing ? 'provider_error' : 'invalid_request',
    `url: ${error.message}${hint}`,
  );
}

const SIGN_IN_HINT =
  '; where a person signs in, begin with POST /v1/connections/oauth/tool-server/start';

/** Errors that may be gone on the next attempt with the same address. */
const PASSING: ReadonlySet<ToolServerErrorKind> = new Set([
  'unreachable',
  'too_slow',
  'server_error',
  'broken',
  'cancelled',
]);

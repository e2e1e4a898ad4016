import type { Context } from 'koa';
import { effectivePlan } from '#core/accounts/billing/index.ts';
import { tokenPrefix } from '#core/accounts/identity/index.ts';
import { authenticateMcpToken } from '#core/accounts/programs/index.ts';
import { countUse } from '#core/foundation/rate-limits/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ProjectAccess } from '../access.ts';
import type { Deps } from '../deps.ts';
import { accessOfKey, assertWithinLimit, bearerOf, countedKey } from '../http/authenticate.ts';
import { networkOf } from '../http/client-address.ts';

export interface Assistant {
  readonly access: ProjectAccess;
  /** Name of an assistant with a consent; undefined with an API key, whose client names itself. */
  readonly clientName: string | undefined;
}

/**
 * Identifies the caller of `/mcp`: an assistant with a person's consent (OAuth 2.1), or the holder of an API key. The
 * rate limit counts both.
 * @throws {AppError} of authentication, with the challenge of RFC 9728, and of the rate limit
 */
export async function authenticateAssistant(ctx: Context, deps: Deps): Promise<Assistant> {
  const presented = bearerOf(ctx);
  try {
    if (presented.startsWith(tokenPrefix(deps.config.PRODUCT_TAG, 'access')))
      return await consented(ctx, presented, deps);
    const key = await countedKey(ctx, deps);
    if (!key.mcpEnabled) {
      throw new AppError('forbidden', 'The project of this key has switched MCP off, in Settings.');
    }
    return { access: accessOfKey(key, deps), clientName: undefined };
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 401) throw error;
    const metadata = `${deps.config.PUBLIC_URL}/.well-known/oauth-protected-resource/mcp`;
    const challenge = `Bearer resource_metadata="${metadata}"${presented === '' ? '' : ', error="invalid_token"'}`;
    throw new AppError(error.code, error.message, { 'WWW-Authenticate': challenge });
  }
}

async function consented(ctx: Context, presented: string, deps: Deps): Promise<Assistant> {
  const address = networkOf(deps.clientAddress(ctx.req));
  const found = await deps.keyAttempts.lookUp({ address, presented }, () => authenticateMcpToken(deps, presented));
  if (found === undefined) {
    throw new AppError('invalid_api_key', 'The access token is unknown, expired or revoked.');
  }
  const { projectId, organizationId, userId, grantId, scopes } = found;
  ctx.state.projectId = projectId;
  ctx.state.actor = userId;
  assertWithinLimit(ctx, await countUse(deps.database, grantId), deps);
  const plan = effectivePlan(deps.planRule, found.paidPlan);
  const actor = { kind: 'assistant', grantId, userId, scopes } as const;
  return { access: { projectId, organizationId, plan, actor }, clientName: found.clientName };
}

import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import {
  redeemTerminalSignIn,
  requestTerminalSignIn,
  TERMINAL_SECONDS,
  UNKNOWN_CODE,
} from '#core/accounts/programs/index.ts';
import { authenticateKey } from '#core/accounts/identity/index.ts';
import { revokeApiKey } from '#core/accounts/organizations/index.ts';
import { transaction } from '#lib/database/index.ts';
import { now } from '#lib/clock.ts';
import { AppError } from '#lib/errors.ts';
import type { Deps } from '../deps.ts';
import { assertStorable, readJson } from '../http/body.ts';
import { limitKeyAttempts, type KeyAttempts } from '../http/address-limits.ts';
import { networkOf } from '../http/client-address.ts';
import { validate } from '../http/validate.ts';

const CODE_PATH = '/v1/auth/device/code';
const TOKEN_PATH = '/v1/auth/device/token';
const REVOKE_PATH = '/v1/auth/device/revoke';
const MAX_BODY_BYTES = 4 * 1024;
/** The most unknown device codes from one network in a minute. Terminals behind one address may send expired codes. */
const WRONG_CODES_PER_MINUTE = 30;

/** The only program that signs in this way is the command line. */
const clientId = z.literal('ras-cli');

const codeRequest = z.object({ client_id: clientId, host_name: z.string().max(255).optional() });

const tokenRequest = z.object({
  client_id: clientId,
  grant_type: z.literal('urn:ietf:params:oauth:grant-type:device_code'),
  device_code: z.string().min(1).max(200),
});

const revocation = z.object({ client_id: clientId, token: z.string().min(1).max(200) });

/**
 * Serves the sign-in of a terminal (RFC 8628) and its sign-out (RFC 7009). Both are not operations of the API: the
 * standards define their form, which has no envelope. A person approves a terminal on the page `/device` of the
 * dashboard.
 */
export function terminalSignIn(deps: Deps): Middleware {
  const attempts = limitKeyAttempts(WRONG_CODES_PER_MINUTE);
  return async (ctx, next) => {
    if (![CODE_PATH, TOKEN_PATH, REVOKE_PATH].includes(ctx.path)) return next();
    ctx.state.route = ctx.path;
    if (ctx.method !== 'POST') {
      throw new AppError('method_not_allowed', undefined, { Allow: 'POST' });
    }
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'application/json';
    const answered =
      ctx.path === CODE_PATH
        ? giveCodes(ctx, deps)
        : ctx.path === TOKEN_PATH
          ? giveKey(ctx, deps, attempts)
          : revokeKey(ctx, deps, attempts);
    await answered.catch((error: unknown) => {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      ctx.set({ ...error.headers });
      const isTooMany = error.code === 'rate_limited';
      fail(ctx, error.status, isTooMany ? 'slow_down' : 'invalid_request', error.message);
    });
    return undefined;
  };
}

async function giveCodes(ctx: Context, { config, database, clientAddress }: Deps): Promise<void> {
  const { host_name: hostName = '' } = await bodyOf(ctx, codeRequest);
  const address = clientAddress(ctx.req);
  const network = networkOf(address);
  const host = shownHost(hostName);
  const { deviceCode, userCode } = await requestTerminalSignIn(database, {
    host,
    address,
    network,
  });
  const page = `${config.UI_ORIGIN}/device`;
  ctx.body = JSON.stringify({
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: TERMINAL_SECONDS.expiresIn,
    interval: TERMINAL_SECONDS.interval,
  });
}

async function giveKey(ctx: Context, { config, database, clientAddress }: Deps, attempts: KeyAttempts): Promise<void> {
  const { device_code: deviceCode } = await bodyOf(ctx, tokenRequest);
  const attempt = { address: networkOf(clientAddress(ctx.req)), presented: deviceCode };
  const found = await attempts.lookUp(attempt, async () => {
    const redeemed = await redeemTerminalSignIn(database, { deviceCode, tag: config.PRODUCT_TAG });
    return 'error' in redeemed && redeemed.error === 'invalid_grant' ? undefined : redeemed;
  });
  const grant = found ?? UNKNOWN_CODE;
  if ('error' in grant) {
    fail(ctx, 400, grant.error, grant.reason);
    return;
  }
  ctx.body = JSON.stringify({
    access_token: grant.key,
    token_type: 'Bearer',
    expires_in: Math.floor((grant.expiresAt.getTime() - now()) / 1_000),
    scope: grant.scopes.join(' '),
    project_id: grant.projectId,
  });
}

/** Revokes the key of a terminal that signs out. An unknown key counts as revoked (RFC 7009, section 2.2). */
async function revokeKey(ctx: Context, { config, database, clientAddress }: Deps, attempts: KeyAttempts) {
  const { token: presented } = await bodyOf(ctx, revocation);
  const address = clientAddress(ctx.req);
  await attempts.lookUp({ address: networkOf(address), presented }, async () => {
    const key = await authenticateKey(database, config.PRODUCT_TAG, presented);
    if (key === undefined) return undefined;
    const { keyId: id, organizationId, projectId } = key;
    await transaction(database, (tx) =>
      revokeApiKey(tx, { kind: 'key', id, address }, { organizationId, projectId, id }),
    );
    return key;
  });
  ctx.body = '{}';
}

async function bodyOf<S extends z.ZodType>(ctx: Context, schema: S): Promise<z.output<S>> {
  const { value } = await readJson(ctx, MAX_BODY_BYTES);
  assertStorable(value);
  return validate(schema, value);
}

function fail(ctx: Context, status: number, error: string, description: string): void {
  ctx.status = status;
  ctx.body = JSON.stringify({ error, error_description: description });
}

function shownHost(name: string): string {
  const plain = name.normalize('NFKC').replaceAll(/[^A-Za-z0-9._-]+/g, '-');
  return plain.slice(0, 63).replaceAll(/^[-.]+|[-.]+$/g, '') || 'unnamed-host';
}

import type { Middleware } from 'koa';
import { CLIENT_ADDRESS_HEADER } from '#core/identity/index.ts';
import type { Deps } from '../deps.ts';
import { AppError } from '#lib/errors.ts';
import { assertStorable, hasBody, readBody } from './body.ts';
import { clientAddress } from './client-address.ts';

/** Serves `/auth/*` with better-auth, which parses and validates for itself; only the size limit is ours. */
export function authMount({ auth, config }: Deps): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/auth' && !ctx.path.startsWith('/auth/')) return next();
    ctx.state.route = '/auth/*';
    if (!METHODS.includes(ctx.method)) {
      throw new AppError('method_not_allowed', undefined, { Allow: METHODS.join(', ') });
    }
    const headers = new Headers();
    for (const [name, value] of Object.entries(ctx.req.headers)) {
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    }
    headers.set(CLIENT_ADDRESS_HEADER, clientAddress(ctx.req, config.TRUSTED_PROXY_HOPS));
    const body = ctx.method === 'POST' && hasBody(ctx.req) ? await readBody(ctx) : null;
    if (body !== null) refuseUnstorable(body);
    const url = new URL(ctx.url, config.PUBLIC_URL);
    const response = await auth.handler(
      new Request(url, {
        method: ctx.method,
        headers,
        body: body === null ? null : new Uint8Array(body),
      }),
    );
    ctx.status = response.status;
    for (const [name, value] of response.headers) if (name !== 'set-cookie') ctx.set(name, value);
    const cookies = response.headers.getSetCookie();
    if (cookies.length > 0) ctx.set('Set-Cookie', cookies);
    ctx.body = Buffer.from(await response.arrayBuffer());
  };
}

const METHODS = ['GET', 'POST'];

/** Refuses a NUL, which the library would hand on to Postgres. It refuses text that is no JSON itself. */
function refuseUnstorable(body: Buffer): void {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return;
  }
  assertStorable(value);
}

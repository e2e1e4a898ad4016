import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { CLIENT_ADDRESS_HEADER } from '#core/accounts/identity/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Deps } from '../deps.ts';
import { assertStorable, hasBody, readJson } from '../http/body.ts';
import { validate } from '../http/validate.ts';
import { findOperation, type AuthOperation } from './operation.ts';
import { authOperations } from './operations.ts';

/** The most bytes of a body. A name, an address and a password are far smaller. */
const MAX_BODY_BYTES = 16 * 1024;

/** Serves `/auth/*` with better-auth: only the documented operations, with validated input. */
export function authMount(deps: Deps): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/auth' && !ctx.path.startsWith('/auth/')) return next();
    ctx.state.route = '/auth/*';
    const path = ctx.path.slice('/auth'.length);
    const { operation, methods } = findOperation(authOperations, ctx.method, path);
    if (operation === undefined) {
      if (methods.length === 0) throw new AppError('route_not_found');
      throw new AppError('method_not_allowed', undefined, { Allow: methods.join(', ') });
    }
    ctx.state.route = `/auth${operation.path}`;
    const query = queryOf(operation, ctx);
    const body = await bodyOf(operation, ctx);
    const url = new URL(ctx.path, deps.config.PUBLIC_URL);
    url.search = query.toString();
    const request = new Request(url, { method: ctx.method, headers: headersOf(ctx, deps), body });
    await sendLibraryResponse(ctx, operation, await deps.auth.handler(request));
  };
}

function queryOf({ query }: AuthOperation, ctx: Context): URLSearchParams {
  if (query === undefined) {
    if (ctx.querystring === '') return new URLSearchParams();
    throw new AppError('invalid_request', 'This operation takes no query parameters.');
  }
  const given = { ...ctx.query };
  assertStorable(given);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(validate(query, given))) {
    if (typeof value === 'string') search.set(name, value);
  }
  return search;
}

async function bodyOf({ body }: AuthOperation, ctx: Context): Promise<string | null> {
  if (body === undefined) return null;
  const value = hasBody(ctx.req) ? (await readJson(ctx, MAX_BODY_BYTES)).value : {};
  return JSON.stringify(validate(body, value));
}

function headersOf(ctx: Context, { clientAddress }: Deps): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(ctx.req.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // Drop the received length, because the validated body may have another length.
  headers.delete('content-length');
  headers.delete('transfer-encoding');
  headers.set(CLIENT_ADDRESS_HEADER, clientAddress(ctx.req));
  return headers;
}

const failure = z.object({ code: z.string().optional(), message: z.string().optional() });

/**
 * Sends the library's response: a success with only the documented fields, an error in the service's envelope, a
 * redirect unchanged.
 */
async function sendLibraryResponse(ctx: Context, { success }: AuthOperation, response: Response): Promise<void> {
  ctx.status = response.status;
  ctx.set('Cache-Control', 'no-store');
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) ctx.set('Set-Cookie', cookies);
  const location = response.headers.get('location');
  if (location !== null && response.status < 400) {
    ctx.set('Location', location);
    ctx.body = null;
    ctx.status = response.status;
    return;
  }
  const text = await response.text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  ctx.type = 'application/json';
  if (response.status < 400) {
    ctx.body = JSON.stringify(success === undefined ? {} : success.parse(body));
    return;
  }
  const wait = response.headers.get('retry-after') ?? response.headers.get('x-retry-after');
  if (wait !== null) ctx.set('Retry-After', wait);
  ctx.body = JSON.stringify({
    error: describe(response.status, body),
    requestId: ctx.state.requestId,
  });
}

function describe(status: number, body: unknown): { code: string; message: string } {
  const { data } = failure.safeParse(body);
  const message = data?.message ?? 'The request was refused.';
  return { code: data?.code?.toLowerCase() ?? codeOf(status), message };
}

/** Chooses a code for an error to which the library gives none. */
function codeOf(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_required';
    case 403:
      return 'forbidden';
    case 404:
      return 'route_not_found';
    case 429:
      return 'rate_limited';
    default:
      return status >= 500 ? 'internal_error' : 'invalid_request';
  }
}

import type { OutgoingHttpHeaders } from 'node:http';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Api } from './api.ts';
import { forwardedHeaders } from './proxy.ts';
import { readApi, type ApiResponse } from './read-api.ts';

const MODEL_CALLBACK = '/v1/model-connections/provider-b/oauth/callback';

/**
 * Receives browsers that return from a provider: ends the sign-in at the API with the session's cookie, then redirects
 * to a page, so that no code stays in the address bar, the history or a log.
 */
export function returns(api: Api): Middleware {
  return async (ctx, next) => {
    const page = pageFor(ctx);
    if (page === undefined) return next();
    ctx.state.served = 'return';
    const response = await readApi(api, ctx.url, sessionOf(ctx)).catch(() => undefined);
    if (response !== undefined && response.setCookies.length > 0) {
      ctx.set('Set-Cookie', [...response.setCookies]);
    }
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Location', `${page}?${outcome(response, String(ctx.state.requestId)).toString()}`);
    ctx.body = '';
    ctx.status = 303;
    return undefined;
  };
}

function pageFor(ctx: Context): string | undefined {
  if (ctx.method !== 'GET') return undefined;
  if (/^\/oauth\/callback\/[a-z][a-z0-9-]{0,60}$/.test(ctx.path)) return '/returned/connection';
  // The page itself calls the same operation with an address that a user has pasted.
  const isNavigation = ctx.get('sec-fetch-mode') === 'navigate' || /\btext\/html\b/.test(ctx.get('accept'));
  return ctx.path === MODEL_CALLBACK && isNavigation ? '/returned/model-account' : undefined;
}

/**
 * Picks the headers by which the API recognizes the caller. A navigation sends other headers too, which are left out.
 */
function sessionOf(ctx: Context): OutgoingHttpHeaders {
  const headers = forwardedHeaders(ctx);
  const names = ['cookie', 'user-agent', 'x-forwarded-for', 'x-request-id'];
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

const withId = z.object({ id: z.string().regex(/^[a-z]{3,4}_[0-9a-z]{26}$/) });
const errorCode = z.string().regex(/^[a-z_]{1,60}$/);

/**
 * Returns the query for the page: the id of the connected account, or the code of the error and the id of the request.
 */
function outcome(response: ApiResponse | undefined, requestId: string): URLSearchParams {
  const connected = withId.safeParse(response?.body?.data);
  if (response?.status === 200 && connected.success) {
    return new URLSearchParams({ id: connected.data.id });
  }
  const code = errorCode.safeParse(response?.body?.error?.code);
  return new URLSearchParams({ error: code.success ? code.data : 'api_unreachable', requestId });
}

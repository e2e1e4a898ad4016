import type { Context } from 'koa';
import { z } from 'zod';
import type { AuthOperation } from './operation.ts';

const failure = z.object({ code: z.string().optional(), message: z.string().optional() });

/**
 * Sends what the library responds: its success with the documented fields only, its errors in the envelope that every
 * other error has, and redirects as they are.
 */
export async function sendLibraryResponse(
  ctx: Context,
  { success }: AuthOperation,
  response: Response,
): Promise<void> {
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

/** Chooses a code for those of the library's errors that have none. */
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

import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';

/** Names the request: the caller's `X-Request-Id` where it is well-formed, else a new one. */
export function requestId(ctx: Context, next: Next): Promise<void> {
  const given = ctx.get('x-request-id');
  ctx.state.requestId = /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', String(ctx.state.requestId));
  return next();
}

import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';

/** Names the request, so that the logs of dashboard and API can be read together. */
export function requestId(ctx: Context, next: Next): Promise<void> {
  const given = ctx.get('x-request-id');
  ctx.state.requestId = /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', String(ctx.state.requestId));
  return next();
}

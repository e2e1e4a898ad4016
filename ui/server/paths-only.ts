import type { Context, Next } from 'koa';
import { failure } from './failure.ts';

/**
 * Refuses a target that is a whole address instead of a path, because only forward proxies accept one (RFC 9112,
 * section 3.2.2).
 */
export async function pathsOnly(ctx: Context, next: Next): Promise<void> {
  if (ctx.url.startsWith('/')) return next();
  ctx.state.served = 'nothing';
  return failure(ctx, 400, 'invalid_request', 'The target of a request has to be a path.');
}

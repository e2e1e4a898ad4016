import type { Context } from 'koa';

/** Responds with the envelope that errors of the API have. */
export function failure(ctx: Context, status: number, code: string, message: string): void {
  ctx.status = status;
  ctx.set('Cache-Control', 'no-store');
  ctx.body = { error: { code, message }, requestId: ctx.state.requestId };
}

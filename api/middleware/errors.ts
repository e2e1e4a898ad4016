import type { Middleware } from 'koa';
import { isTransient } from '#lib/database/index.ts';
import { AppError, failureBody } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { awaitsContinue } from '../http/body.ts';

/** Turns whatever was thrown into the failure envelope. An unexpected error tells the caller nothing. */
export function errors(log: Log): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = translate(thrown);
      if (error.status >= 500) {
        log.error(
          { err: thrown, requestId: ctx.state.requestId, route: ctx.state.route },
          'failed',
        );
      }
      ctx.status = error.status;
      ctx.set({ ...error.headers });
      // The caller was not told to send the body, so nothing can follow on this connection.
      if (awaitsContinue(ctx.req) && !ctx.req.complete) ctx.set('Connection', 'close');
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/json';
      ctx.body = failureBody(error, String(ctx.state.requestId));
    }
  };
}

function translate(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isTransient(thrown)) {
    return new AppError('service_unavailable', undefined, { 'Retry-After': '5' });
  }
  return new AppError('internal_error');
}

import type { Middleware } from 'koa';
import { isTransient } from '#lib/database/index.ts';
import { AppError, failureBody } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { awaitsContinue } from '../http/body.ts';
import { prefersDetails } from '../http/prefer.ts';

/** Turns an error into the failure envelope, and hides an unexpected error from the caller. */
export function errors(log: Log): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = translate(thrown);
      const { requestId, route } = ctx.state;
      logUnexpected(log, { thrown, error, requestId, route });
      ctx.status = error.status;
      ctx.set({ ...error.headers });
      // The caller has not sent its body, so the connection cannot be used again.
      if (awaitsContinue(ctx.req) && !ctx.req.complete) ctx.set('Connection', 'close');
      ctx.set('Cache-Control', 'no-store');
      ctx.type = 'application/json';
      ctx.body = failureBody(error, String(ctx.state.requestId), { isDetailed: prefersDetails(ctx) });
    }
  };
}

export function translate(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isTransient(thrown)) {
    return new AppError('service_unavailable', undefined, { 'Retry-After': '5' });
  }
  return new AppError('internal_error');
}

/** Logs an error that the caller could not have caused. */
export function logUnexpected(
  log: Log,
  failure: { thrown: unknown; error: AppError; requestId: unknown; route: unknown },
): void {
  const { thrown, error, requestId, route } = failure;
  if (error.status >= 500) log.error({ err: thrown, requestId, route }, 'failed');
}

import type { Middleware } from 'koa';
import type { Log } from '../../lib/log.ts';

/**
 * Logs one line a request. The line names the part that served the request and never the URL, which may contain a code
 * of a sign-in.
 */
export function accessLog(log: Log): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    await next();
    log.info(
      {
        requestId: ctx.state.requestId,
        method: ctx.method,
        served: ctx.state.served,
        status: ctx.status,
        durationMs: Math.round(performance.now() - started),
      },
      'request',
    );
  };
}

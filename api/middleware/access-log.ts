import type { Middleware } from 'koa';
import type { Log } from '#lib/log.ts';

/**
 * Logs one line a request. It names the route and never the URL, as a caller may have put a secret into the query. The
 * log's context adds the ids, the caller and its address.
 */
export function accessLog(log: Log): Middleware {
  // All its fields are named here and none is the caller's, so there is nothing to redact.
  const line = log.child({}, { redact: [] });
  return async (ctx, next) => {
    const started = performance.now();
    await next();
    line.info(
      {
        method: ctx.method,
        route: ctx.state.route,
        status: ctx.status,
        durationMs: Math.round(performance.now() - started),
      },
      'request',
    );
  };
}

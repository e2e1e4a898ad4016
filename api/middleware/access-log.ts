import type { Middleware } from 'koa';
import type { Log } from '#lib/log.ts';

/**
 * One line a request: the route, never the URL, whose query could hold what a caller mistook for a place for secrets.
 * Its ids are put on it by the log's context.
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

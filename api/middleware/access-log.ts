import type { Middleware } from 'koa';
import type { Log } from '#lib/log.ts';

/** One line a request: the route, never the URL, whose query could hold what a caller mistook for a place for secrets. */
export function accessLog(log: Log): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    await next();
    log.info(
      {
        requestId: ctx.state.requestId,
        projectId: ctx.state.projectId,
        method: ctx.method,
        route: ctx.state.route,
        status: ctx.status,
        durationMs: Math.round(performance.now() - started),
      },
      'request',
    );
  };
}

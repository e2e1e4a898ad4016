import type { Middleware } from 'koa';
import { UNMATCHED_ROUTE, type Metrics } from '#lib/metrics/index.ts';

/** Counts every request under the pattern of its route: paths hold ids, and each would be a series of its own. */
export function requestMetrics(metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    await next();
    metrics.httpRequest({
      method: ctx.method,
      route: routeOf(ctx.state.route),
      status: ctx.status,
      seconds: (performance.now() - started) / 1_000,
    });
  };
}

function routeOf(route: unknown): string {
  return typeof route === 'string' ? route : UNMATCHED_ROUTE;
}

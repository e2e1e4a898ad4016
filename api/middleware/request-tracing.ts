import type { Middleware } from 'koa';
import type { Tracing } from '#lib/tracing/index.ts';

/** Traces a request as a span named by its route, on the caller's trace where a `traceparent` came along. */
export function requestTracing(tracing: Tracing): Middleware {
  return (ctx, next) => {
    const parent = ctx.get('traceparent');
    const options = {
      kind: 'server',
      parent: parent === '' ? undefined : parent,
      attributes: { 'http.request.method': ctx.method },
    } as const;
    return tracing.span(ctx.method, options, async (span) => {
      ctx.state.traceId = span.traceparent?.split('-')[1];
      await next();
      const { route, projectId, requestId } = ctx.state;
      if (typeof route === 'string') tracing.rename(`${ctx.method} ${route}`);
      span.set({
        'http.route': route,
        'http.response.status_code': ctx.status,
        'ras.request.id': requestId,
        'ras.project.id': projectId,
      });
      if (ctx.status >= 500) span.set({ 'error.type': String(ctx.status) });
    });
  };
}

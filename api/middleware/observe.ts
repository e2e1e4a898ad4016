import type { Context, Middleware } from 'koa';
import { withLogFields, type Log } from '#lib/log.ts';
import { UNMATCHED_ROUTE, type Metrics } from '#lib/metrics/index.ts';
import type { Tracing } from '#lib/tracing.ts';
import type { ClientAddress } from '../http/client-address.ts';

/** Adds the request's ids and address to each of its log lines; also project and caller, once they are known. */
export function logContext(clientAddress: ClientAddress): Middleware {
  return (ctx: Context, next) => {
    const { state } = ctx;
    const fields = {
      requestId: state.requestId as unknown,
      address: clientAddress(ctx.req),
      get actor(): unknown {
        return state.actor;
      },
      get projectId(): unknown {
        return state.projectId;
      },
      /** Undefined, and so left out, while tracing is off. */
      get traceId(): unknown {
        return state.traceId;
      },
    };
    return withLogFields(fields, next);
  };
}

/**
 * Logs one line a request. The line names the route and never the URL, whose query may contain a secret. The log's
 * context adds the ids, the caller and its address.
 */
export function accessLog(log: Log): Middleware {
  // This service itself makes all fields, so there is nothing to redact.
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

/** Counts every request by the pattern of its route. Counting by path would make a time series for each id. */
export function requestMetrics(metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    await next();
    // Subtract a wait that the caller requested, which does not measure the speed of the service.
    const { waitedMs = 0 } = ctx.state as { waitedMs?: number };
    metrics.httpRequest({
      method: ctx.method,
      route: typeof ctx.state.route === 'string' ? ctx.state.route : UNMATCHED_ROUTE,
      status: ctx.status,
      seconds: (performance.now() - started - waitedMs) / 1_000,
    });
  };
}

/** Traces a request as a span named by its route, in the caller's trace if it sent a `traceparent`. */
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

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as ApiSpan,
  type SpanContext,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Span, SpanOptions, Tracing } from './tracing.ts';

/**
 * Traces by OpenTelemetry, exported in batches over OTLP/HTTP. `OTEL_EXPORTER_OTLP_HEADERS` has the receiver's
 * credentials, if any; the exporter itself reads this variable. The current span is kept here and not in the API's
 * globals, so that several tracers can coexist.
 */
export function createOtlpTracing(settings: { endpoint: string; service: string }): Tracing {
  const ids = chosenIds();
  const exporter = new OTLPTraceExporter({ url: `${settings.endpoint.replace(/\/$/, '')}/v1/traces` });
  const provider = new TracerProvider({
    idGenerator: ids,
    resource: resourceFromAttributes({ 'service.name': settings.service }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000 })],
  });
  const tracer = provider.getTracer('routine-automation-service');
  const underWay = new AsyncLocalStorage<Context>();

  return {
    enabled: true,
    async span(name, options, work) {
      const parent = contextOf(options.parent) ?? underWay.getStore() ?? ROOT_CONTEXT;
      const kind = KINDS[options.kind ?? 'internal'];
      const span = tracer.startSpan(name, { kind, attributes: options.attributes ?? {} }, parent);
      try {
        return await underWay.run(trace.setSpan(parent, span), () => work(faceOf(span)));
      } catch (error) {
        // `work` decides how to report the error, because messages may quote a person or a provider.
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    record({ name, spanId, parent, attributes, startedAtMs, endedAtMs, failed }) {
      const context = contextOf(parent);
      if (context === undefined) return;
      const span = ids.choosing(spanId, () => tracer.startSpan(name, { attributes, startTime: startedAtMs }, context));
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endedAtMs);
    },
    rename(name) {
      const context = underWay.getStore();
      if (context !== undefined) trace.getSpan(context)?.updateName(name);
    },
    current() {
      const context = underWay.getStore();
      const span = context === undefined ? undefined : trace.getSpan(context);
      return span === undefined ? undefined : formatTraceparent(span.spanContext());
    },
    // A receiver that is away must not prevent a clean end of the process.
    close: () => provider.shutdown().catch(() => undefined),
  };
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const satisfies Record<NonNullable<SpanOptions['kind']>, SpanKind>;

function contextOf(traceparent: string | undefined): Context | undefined {
  const parsed = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  return parsed === undefined ? undefined : trace.setSpanContext(ROOT_CONTEXT, parsed);
}

function faceOf(span: ApiSpan): Span {
  return {
    set: (attributes) => void span.setAttributes(attributes),
    traceparent: formatTraceparent(span.spanContext()),
  };
}

/**
 * Makes random ids, except for a span whose id was chosen elsewhere. Starting a span is synchronous, so no other span
 * takes the chosen id.
 */
function chosenIds() {
  const random = new RandomIdGenerator();
  let chosen: string | undefined;
  return {
    generateTraceId: () => random.generateTraceId(),
    generateSpanId: () => chosen ?? random.generateSpanId(),
    choosing<T>(spanId: string, start: () => T): T {
      chosen = spanId;
      try {
        return start();
      } finally {
        chosen = undefined;
      }
    },
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Reads a `traceparent` (W3C Trace Context, section 3.2); undefined when it is malformed or all zeros. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (text.startsWith('ff') || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
}

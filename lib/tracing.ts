import type { Attributes } from '@opentelemetry/api';

export interface Span {
  set(attributes: Attributes): void;
  /**
   * `traceparent` of this span (W3C Trace Context, section 3.2), for a process that continues the trace; undefined when
   * off.
   */
  readonly traceparent: string | undefined;
}

export interface SpanOptions {
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /** `traceparent` of a span in another process. Default: the current span of this process, or none. */
  readonly parent?: string | undefined;
}

/** Distributed traces. Attributes are ids, models and counts; texts of people never become part of a trace. */
export interface Tracing {
  readonly enabled: boolean;
  /** Runs the work in a span; spans opened inside become its children. An error marks the span and is rethrown. */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** Records a span with known id and times. */
  record(span: RecordedSpan): void;
  /** Renames the current span, once its subject is known. */
  rename(name: string): void;
  /** Returns the `traceparent` of the current span. */
  current(): string | undefined;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

interface RecordedSpan {
  readonly name: string;
  /** Id of the span: 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  readonly parent: string;
  readonly attributes: Attributes;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly failed: boolean;
}

const OFF: Span = { set: () => undefined, traceparent: undefined };

/** Tracing that is off and only calls the work. */
export const NO_TRACING: Tracing = {
  enabled: false,
  span: (_name, _options, work) => work(OFF),
  record: () => undefined,
  rename: () => undefined,
  current: () => undefined,
  close: () => Promise.resolve(),
};

interface TracingSettings {
  /** Base address of an OTLP/HTTP receiver; traces go to `/v1/traces` under it. Undefined switches tracing off. */
  readonly endpoint: string | undefined;
  /** `service.name` of the resource. */
  readonly service: string;
}

/** Opens tracing when an endpoint is configured. Without an endpoint, no part of OpenTelemetry is loaded. */
export async function openTracing({ endpoint, service }: TracingSettings): Promise<Tracing> {
  if (endpoint === undefined) return NO_TRACING;
  const { createOtlpTracing } = await import('./tracing-otlp.ts');
  return createOtlpTracing({ endpoint, service });
}

import { NO_TRACING, type Tracing } from './tracing.ts';

export interface TracingSettings {
  /** Base address of an OTLP/HTTP receiver; traces go to `/v1/traces` under it. Undefined switches tracing off. */
  readonly endpoint: string | undefined;
  /** `service.name` of the resource. */
  readonly service: string;
}

/** Opens tracing when an endpoint is configured. Otherwise nothing of OpenTelemetry is even loaded. */
export async function openTracing({ endpoint, service }: TracingSettings): Promise<Tracing> {
  if (endpoint === undefined) return NO_TRACING;
  const { createOtlpTracing } = await import('./otlp.ts');
  return createOtlpTracing({ endpoint, service });
}

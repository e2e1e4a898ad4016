export { NO_TRACING, type Span, type SpanOptions, type Tracing } from './tracing.ts';
export { openTracing } from './open.ts';

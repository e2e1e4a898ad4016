export { NO_TRACING, type Tracing } from './tracing.ts';
export { openTracing } from './open.ts';

export { NO_TRACING, openTracing, type Tracing } from './tracing.ts';

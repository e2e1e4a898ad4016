export { createMetrics, type Metrics } from './metrics.ts';
export { serveMetrics, type MetricsServer } from './server.ts';
export { UNMATCHED_ROUTE, type TickPart } from './instruments.ts';
export { Gauge, Registry } from 'prom-client';

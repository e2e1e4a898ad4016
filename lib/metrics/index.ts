export { createMetrics, serveMetrics, type Metrics, type MetricsServer } from './metrics.ts';
export { UNMATCHED_ROUTE, type TickPart } from './instruments.ts';
export { Gauge, Registry } from 'prom-client';

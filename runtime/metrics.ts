import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];

/** Metrics of the runtime. Every label has a closed set of values. */
export interface RuntimeMetrics {
  /** Counts a request that was refused before its envelope was opened, by status. */
  refused(status: number): void;
  /** `outcome` is `ok` or a code of the closed list of failures. */
  call(call: { purpose: string; provider: string; outcome: string; seconds: number }): void;
}

export function createRuntimeMetrics(underWay: () => number): {
  metrics: RuntimeMetrics;
  registry: Registry;
} {
  const registry = new Registry();
  const registers = [registry];
  const refused = new Counter({
    name: 'ras_runtime_refused_total',
    help: 'Requests turned away before they were opened or begun, by status.',
    labelNames: ['status'],
    registers,
  });
  const calls = new Histogram({
    name: 'ras_runtime_call_duration_seconds',
    help: 'Duration of calls, by purpose, provider and outcome: ok or the code of the failure.',
    labelNames: ['purpose', 'provider', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const gauge: Gauge = new Gauge({
    name: 'ras_runtime_calls_under_way',
    help: 'Calls under way.',
    registers,
    collect() {
      gauge.set(underWay());
    },
  });
  return {
    registry,
    metrics: {
      refused: (status) => refused.inc({ status }),
      call: ({ purpose, provider, outcome, seconds }) => calls.observe({ purpose, provider, outcome }, seconds),
    },
  };
}

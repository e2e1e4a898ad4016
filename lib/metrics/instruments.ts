import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The route label of requests that match no declared route. */
export const UNMATCHED_ROUTE = 'unmatched';

export const TICK_PARTS = [
  'claim',
  'admission',
  'deliveries',
  'expire',
  'sweep',
  'housekeeping',
  'catalogues',
  'payments',
  'messages',
  'retention',
] as const;
export type TickPart = (typeof TICK_PARTS)[number];

const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const TICK_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];
const LAG_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600, 86_400];
const MODEL_SECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];
const WEBHOOK_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/**
 * Creates the metrics of events. The name of a metric never changes, because dashboards and alerts of operators rely on
 * it.
 */
export function createInstruments(registry: Registry) {
  const registers = [registry];
  return {
    httpRequests: new Counter({
      name: 'ras_http_requests_total',
      help: 'HTTP requests answered, by method, route pattern and status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    httpDuration: new Histogram({
      name: 'ras_http_request_duration_seconds',
      help: 'Time from the arrival of a request to the head of its answer.',
      labelNames: ['method', 'route'],
      buckets: HTTP_SECONDS,
      registers,
    }),
    runsEnded: new Counter({
      name: 'ras_runs_ended_total',
      help: 'Runs that this process brought to an end, by final state, reason and class of failure.',
      labelNames: ['state', 'reason', 'class'],
      registers,
    }),
    claimLag: new Histogram({
      name: 'ras_scheduler_claim_lag_seconds',
      help: 'How late the oldest occurrence of a claimed batch was.',
      buckets: LAG_SECONDS,
      registers,
    }),
    occurrencesClaimed: new Counter({
      name: 'ras_scheduler_occurrences_claimed_total',
      help: 'Due occurrences that became queued runs.',
      registers,
    }),
    occurrencesSkipped: new Counter({
      name: 'ras_scheduler_occurrences_skipped_total',
      help: 'Due occurrences that were passed over, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    tickDuration: new Histogram({
      name: 'ras_scheduler_tick_duration_seconds',
      help: 'Duration of the parts of scheduler ticks, by part and outcome.',
      labelNames: ['part', 'outcome'],
      buckets: TICK_SECONDS,
      registers,
    }),
    lastTick: new Gauge({
      name: 'ras_scheduler_last_tick_timestamp_seconds',
      help: 'When this process last completed this part of a tick (Unix time); 0 when it never has.',
      labelNames: ['part'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'ras_webhook_attempts_total',
      help: 'Attempts to deliver a result webhook, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookDuration: new Histogram({
      name: 'ras_webhook_attempt_duration_seconds',
      help: 'Duration of attempts to deliver a result webhook, recording included.',
      buckets: WEBHOOK_SECONDS,
      registers,
    }),
    messageAttempts: new Counter({
      name: 'ras_message_attempts_total',
      help: 'Attempts to send a mail, a mail about an account or a ping, by channel and outcome; failed: given up.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    toolDuration: new Histogram({
      name: 'ras_tool_call_duration_seconds',
      help: 'Duration of tool calls of runs, recording included, by outcome.',
      labelNames: ['outcome'],
      buckets: MODEL_SECONDS,
      registers,
    }),
    modelDuration: new Histogram({
      name: 'ras_model_call_duration_seconds',
      help: 'Duration of model calls, by model and outcome: ok, cancelled or the reason of the failure.',
      labelNames: ['model', 'outcome'],
      buckets: MODEL_SECONDS,
      registers,
    }),
    modelTokens: new Counter({
      name: 'ras_model_tokens_total',
      help: 'Tokens used; cached is a part of input, reasoning a part of output.',
      labelNames: ['model', 'kind'],
      registers,
    }),
    paymentEvents: new Counter({
      name: 'ras_payment_events_total',
      help: 'Events of the payment processor, by kind and by what became of them.',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    paymentAlerts: new Counter({
      name: 'ras_payment_alerts_total',
      help: 'Conditions of payment that an operator has to look at, by kind.',
      labelNames: ['alert'],
      registers,
    }),
    modelCost: new Counter({
      name: 'ras_model_cost_usd_total',
      help: 'Cost of model calls in US dollars, where the model directory quotes a price.',
      labelNames: ['model'],
      registers,
    }),
  };
}

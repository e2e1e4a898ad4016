import { createServer } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { createInstruments, TICK_PARTS, type TickPart } from './instruments.ts';

/**
 * Counts the work of the product. Every label comes from a closed or bounded set: route patterns, states, reasons,
 * models of the directory; never an id, a URL or a text.
 */
export interface Metrics {
  httpRequest(request: { method: string; route: string; status: number; seconds: number }): void;
  /** `failureClass` says whose fault a failed run is. */
  runEnded(run: { state: string; reason: string | null; failureClass: string | null }): void;
  /** Counts one batch of a tick. `lagSeconds` is the delay of its oldest occurrence. */
  claimed(batch: {
    lagSeconds: number;
    runs: number;
    /** Number of skipped occurrences for each reason. */
    skipped: ReadonlyMap<string, number>;
  }): void;
  ticked(tick: { part: TickPart; seconds: number; failed: boolean }): void;
  webhookAttempt(attempt: { outcome: string; seconds: number }): void;
  /** Counts an attempt at a mail or a ping: `sent`, `retry`, `cancelled` or, when it was given up, `failed`. */
  messageAttempt(attempt: { channel: 'mail' | 'ping' | 'account' | 'chat'; outcome: string }): void;
  toolCall(call: { outcome: string; seconds: number }): void;
  /** `outcome` is `ok`, `cancelled` or the reason of a failure. */
  modelCall(call: { model: string; outcome: string; seconds: number }): void;
  modelTokens(model: string, tokens: Readonly<Record<TokenKind, number>>): void;
  /** `costUsd` is null when the model directory has no price. */
  modelCost(model: string, costUsd: string | null): void;
  /** Counts an event of the payment processor. `outcome` is `accepted`, or the reason why the event was ignored. */
  paymentEvent(event: { kind: string; outcome: string }): void;
  /** Counts a payment problem that needs an operator. */
  paymentAlert(alert: string): void;
}

/** `cached` is a part of `input`, `reasoning` a part of `output`. */
type TokenKind = 'input' | 'cached' | 'output' | 'reasoning';

/** Creates the instruments of one process on a new registry. */
export function createMetrics(): { metrics: Metrics; registry: Registry } {
  const registry = new Registry();
  const on = createInstruments(registry);
  // Set every part from the start, so that an alert sees a part that has never completed.
  for (const part of TICK_PARTS) on.lastTick.set({ part }, 0);
  const metrics: Metrics = {
    httpRequest({ method, route, status, seconds }) {
      on.httpRequests.inc({ method, route, status });
      on.httpDuration.observe({ method, route }, seconds);
    },
    runEnded: ({ state, reason, failureClass }) =>
      on.runsEnded.inc({ state, reason: reason ?? 'none', class: failureClass ?? 'none' }),
    claimed({ lagSeconds, runs, skipped }) {
      on.claimLag.observe(lagSeconds);
      on.occurrencesClaimed.inc(runs);
      for (const [reason, count] of skipped) on.occurrencesSkipped.inc({ reason }, count);
    },
    ticked({ part, seconds, failed }) {
      on.tickDuration.observe({ part, outcome: failed ? 'failed' : 'ok' }, seconds);
      if (!failed) on.lastTick.setToCurrentTime({ part });
    },
    webhookAttempt({ outcome, seconds }) {
      on.webhookAttempts.inc({ outcome });
      on.webhookDuration.observe(seconds);
    },
    messageAttempt: ({ channel, outcome }) => on.messageAttempts.inc({ channel, outcome }),
    toolCall: ({ outcome, seconds }) => on.toolDuration.observe({ outcome }, seconds),
    modelCall: ({ model, outcome, seconds }) => on.modelDuration.observe({ model, outcome }, seconds),
    modelTokens(model, tokens) {
      for (const [kind, count] of Object.entries(tokens)) on.modelTokens.inc({ model, kind }, count);
    },
    paymentEvent: ({ kind, outcome }) => on.paymentEvents.inc({ kind, outcome }),
    paymentAlert: (alert) => on.paymentAlerts.inc({ alert }),
    modelCost(model, costUsd) {
      // A float is enough here; the usage ledger has the billed amounts.
      if (costUsd !== null) on.modelCost.inc({ model }, Number(costUsd));
    },
  };
  return { metrics, registry };
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` in the Prometheus text format without authentication, so its address and port must not be
 * public. Also starts the measurements of the process itself: event loop, memory, garbage collection.
 */
export async function serveMetrics(
  registry: Registry,
  { host, port }: { host: string; port: number },
): Promise<MetricsServer> {
  collectDefaultMetrics({ register: registry });
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.split('?')[0] !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  const boundPort = await listenOn(server, { host, port });
  return { port: boundPort, close: () => closeAtOnce(server) };
}

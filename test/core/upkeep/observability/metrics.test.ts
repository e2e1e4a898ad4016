import { afterAll, beforeAll, expect, test } from 'vitest';
import { tick } from '#core/scheduling/index.ts';
import { serveMetrics, type MetricsServer } from '#lib/metrics/index.ts';
import { startEverythingServer } from '#test/core/integrations/tools/everything-server.ts';
import { routineWith } from '#test/core/integrations/tools/support.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { ago, changeRoutines, changeRuns } from '#test/support/given.ts';
import { sql, withStatements } from '#lib/database/index.ts';
import { parseSamples, total, type Sample } from './scrape.ts';

let service: Service;
let key: ApiClient;
let server: MetricsServer;

beforeAll(async () => {
  service = await startService({ worker: true });
  key = await (await signUp(service)).key();
  server = await serveMetrics(service.registry, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  await service.close();
});

async function scrape(): Promise<Sample[]> {
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  expect(response.status).toBe(200);
  return parseSamples(await response.text());
}

test('requests are counted by route pattern and status, without ids and unknown paths', async () => {
  const before = await scrape();
  await key.get('/v1/runs/run_01jzzzzzzzzzzzzzzzzzzzzzzz');
  await key.get('/v1/runs/run_01jyyyyyyyyyyyyyyyyyyyyyyy');
  await key.get('/nothing/here');
  const after = await scrape();
  const grown = (labels: Record<string, string>) =>
    total(after, 'ras_http_requests_total', labels) - total(before, 'ras_http_requests_total', labels);
  expect(grown({ method: 'GET', route: '/v1/runs/:runId', status: '404' })).toBe(2);
  expect(grown({ route: 'unmatched', status: '404' })).toBe(1);
  const routes = new Set(after.map(({ labels }) => labels['route'] ?? ''));
  expect([...routes].filter((route) => /run_|nothing/.test(route))).toEqual([]);
  expect(total(after, 'ras_http_request_duration_seconds_count')).toBe(total(after, 'ras_http_requests_total'));
});

test('runs, model calls, tokens and cost are counted by how they came out', async () => {
  const before = await scrape();
  const good = await createRoutine(key);
  const run = await runOnce(key, good);
  const bad = await createRoutine(key, { instructions: 'Please fail: marker-of-failure.' });
  service.gateway.control.script({
    marker: 'marker-of-failure',
    behaviour: { kind: 'error', status: 400 },
  });
  const failed = await runOnce(key, bad);
  expect(failed.state).toBe('failed');
  const after = await scrape();
  const grown = (name: string, labels: Record<string, string> = {}) =>
    total(after, name, labels) - total(before, name, labels);
  const model = run.model.modelId as string;
  expect(grown('ras_runs_ended_total', { state: 'succeeded', reason: 'none' })).toBe(1);
  expect(grown('ras_runs_ended_total', { state: 'failed', reason: failed.reason })).toBe(1);
  expect(grown('ras_model_call_duration_seconds_count', { model, outcome: 'ok' })).toBe(1);
  expect(grown('ras_model_call_duration_seconds_count', { model, outcome: 'model_refused' })).toBe(1);
  expect(grown('ras_model_tokens_total', { model, kind: 'input' })).toBe(run.usage.inputTokens);
  expect(grown('ras_model_tokens_total', { model, kind: 'output' })).toBe(run.usage.outputTokens);
  expect(grown('ras_model_cost_usd_total', { model })).toBeCloseTo(Number(run.usage.costUsd), 10);
});

test('tool calls and attempts to deliver a webhook are counted by outcome', async () => {
  const everything = await startEverythingServer();
  try {
    const { routineId } = await routineWith(key, ['echo'], {
      connection: { url: everything.url },
      routine: {
        instructions: 'marker-of-tools',
        webhookUrl: `http://127.0.0.1:${service.gateway.port}/hook`,
      },
    });
    const calls = [{ name: 'echo', arguments: { message: 'x' } }];
    service.gateway.control.script({
      marker: 'marker-of-tools',
      behaviour: { kind: 'tool-calls', calls },
    });
    expect(await runOnce(key, routineId)).toMatchObject({ state: 'succeeded' });
  } finally {
    await everything.stop();
  }
  expect(total(await scrape(), 'ras_tool_call_duration_seconds_count', { outcome: 'succeeded' })).toBe(1);
  // The receiver refuses the event, so the event waits for its next attempt.
  await expect.poll(async () => total(await scrape(), 'ras_webhook_attempts_total', { outcome: 'pending' })).toBe(1);
});

test('a tick tells how late it claimed, what it skipped and that it was there', async () => {
  const routineId = await activeRoutine(key, { misfire: 'skip', schedule: '0 * * * *' });
  await changeRoutines(service.deps.database, routineId, {
    nextRunAt: sql`date_trunc('hour', ${ago('5 hours')})`,
  });
  const overdue = await scrape();
  const before = Date.now() / 1_000 - 1;
  expect(total(overdue, 'ras_scheduler_overdue_seconds')).toBeGreaterThan(5 * 3_600 - 1);
  await tick(service.deps);
  const after = await scrape();
  expect(total(after, 'ras_scheduler_overdue_seconds')).toBe(0);
  expect(total(after, 'ras_scheduler_claim_lag_seconds_sum')).toBeGreaterThan(5 * 3_600 - 1);
  // Five occurrences were skipped, or six if this hour's own occurrence may no longer run.
  expect(total(after, 'ras_scheduler_occurrences_skipped_total', { reason: 'misfire' })).toBeGreaterThanOrEqual(5);
  for (const part of ['claim', 'deliveries', 'expire', 'sweep', 'housekeeping']) {
    const ofPart = (samples: Sample[], name: string, labels = {}) => total(samples, name, { part, ...labels });
    const duration = 'ras_scheduler_tick_duration_seconds_count';
    expect(ofPart(after, duration, { outcome: 'ok' }), part).toBe(1);
    const last = 'ras_scheduler_last_tick_timestamp_seconds';
    expect(ofPart(overdue, last), part).toBe(0);
    expect(ofPart(after, last), part).toBeGreaterThanOrEqual(before);
  }
});

test('a part of a tick that fails is told as such, and the others as done', async () => {
  const away = new Error('Temporal is away');
  const engine = { ...service.deps.engine, workflowState: () => Promise.reject(away) };
  const routineId = await createRoutine(key);
  const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
  await runEnded(key, run.id);
  await changeRuns(service.deps.database, run.id, { state: 'running', checkedAt: ago('1 hour') });
  const before = await scrape();
  await expect(tick({ ...service.deps, engine })).rejects.toThrow('Temporal is away');
  const after = await scrape();
  const grown = (part: string, outcome: string) =>
    [after, before]
      .map((at) => total(at, 'ras_scheduler_tick_duration_seconds_count', { part, outcome }))
      .reduce((now, then) => now - then);
  expect(grown('sweep', 'failed')).toBe(1);
  expect(grown('sweep', 'ok')).toBe(0);
  expect(grown('claim', 'ok')).toBe(1);
  expect(grown('housekeeping', 'ok')).toBe(1);
  await changeRuns(service.deps.database, run.id, { state: 'succeeded' });
});

test('the process and its pool are measured, and other paths of the private port are not there', async () => {
  const samples = await scrape();
  expect(total(samples, 'ras_database_pool_connections', { state: 'total' })).toBeGreaterThan(0);
  expect(samples.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']),
  );
  const elsewhere = await fetch(`http://127.0.0.1:${server.port}/`);
  expect(elsewhere.status).toBe(404);
});

test('while Postgres cannot be asked the figures from it are unknown and the others are served', async () => {
  const { createMetrics } = await import('#lib/metrics/index.ts');
  const { watchBacklog } = await import('#core/upkeep/observability/index.ts');
  const { metrics, registry } = createMetrics();
  const away = withStatements({ query: () => Promise.reject(new Error('away')) });
  watchBacklog(registry, away, { retention: { contentDays: 90, runDays: 400 }, kinds: [] });
  metrics.runEnded({ state: 'succeeded', reason: null, failureClass: null });
  const samples = parseSamples(await registry.metrics());
  expect(total(samples, 'ras_queue_outbox_runs')).toBeNaN();
  expect(total(samples, 'ras_retention_content_overdue_seconds')).toBeNaN();
  expect(total(samples, 'ras_runs_ended_total')).toBe(1);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_TRACING, openTracing } from '#lib/tracing.ts';
import { parseTraceparent } from '#lib/tracing-otlp.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { replay } from '#test/workflows/histories.ts';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from './otlp-receiver.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

let receiver: OtlpReceiver;
let service: Service;
let key: ApiClient;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  service = await startService({
    worker: true,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint },
  });
  key = await (await signUp(service)).key();
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

function named(name: string, traceId: string) {
  return receiver.spans.find((span) => span.name === name && span.traceId === traceId);
}

test('one trace leads from the request through the workflow and its activity to the model call', async () => {
  const routineId = await createRoutine(key, {
    instructions: 'Write about the canary of traces.',
    webhookUrl: `http://127.0.0.1:${service.gateway.port}/hook`,
  });
  const started = await key
    .with({ traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` })
    .post(`/v1/routines/${routineId}/run`);
  const run = await runEnded(key, started.data.id);
  expect(run.state).toBe('succeeded');
  await receiver.until(() => named('workflow run', CALLER.traceId) !== undefined);
  await receiver.until(() => named('POST /v1/routines/:routineId/run', CALLER.traceId) !== undefined);

  const find = (name: string): ReceivedSpan => {
    const span = named(name, CALLER.traceId);
    if (span === undefined) throw new Error(`no span ${name}`);
    return span;
  };
  const request = find('POST /v1/routines/:routineId/run');
  const start = find('start workflow run');
  const workflow = find('workflow run');
  const activity = find('activity modelStep');
  const call = find(`chat ${run.model.modelId}`);

  await receiver.until(() => named('workflow webhookDelivery', CALLER.traceId) !== undefined);
  expect(find('start workflow webhookDelivery').parentSpanId).toBe(activity.spanId);

  expect(request.parentSpanId).toBe(CALLER.spanId);
  expect(start.parentSpanId).toBe(request.spanId);
  expect(workflow.parentSpanId).toBe(start.spanId);
  expect(activity.parentSpanId).toBe(workflow.spanId);
  expect(call.parentSpanId).toBe(activity.spanId);
  expect(workflow.startedAtMs).toBeLessThanOrEqual(workflow.endedAtMs);

  expect(request.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/v1/routines/:routineId/run',
    'http.response.status_code': 202,
    'ras.request.id': started.headers.get('x-request-id'),
  });
  expect(workflow.attributes).toMatchObject({ 'temporal.workflow.id': run.id });
  expect(call.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': run.model.modelId,
    'gen_ai.usage.input_tokens': run.usage.inputTokens,
    'gen_ai.usage.output_tokens': run.usage.outputTokens,
  });
  // The headers are part of the history, but do not affect its replay.
  const history = await service.temporal.workflow.getHandle(run.id).fetchHistory();
  expect(JSON.stringify(history)).toContain('traceparent');
  expect(await replay([{ name: run.id, history }])).toEqual({ [run.id]: undefined });

  const everything = receiver.bodies.join('\n');
  expect(everything).not.toContain('canary of traces');
  expect(everything).not.toContain(run.result);
});

test('a model call that fails is a failed span with the reason and without the message', async () => {
  service.gateway.control.script({
    marker: 'marker-of-failure',
    behaviour: { kind: 'error', status: 400, message: 'secret words of the provider' },
  });
  const routineId = await createRoutine(key, { instructions: 'marker-of-failure' });
  const started = await key.post(`/v1/routines/${routineId}/run`);
  const run = await runEnded(key, started.data.id);
  expect(run.state).toBe('failed');
  const failedCall = () => receiver.spans.find(({ name, failed }) => failed && name.startsWith('chat '));
  await receiver.until(() => failedCall() !== undefined);
  expect(failedCall()?.attributes['error.type']).toBe('model_refused');
  expect(receiver.bodies.join('\n')).not.toContain('secret words');
});

test('without an endpoint tracing is off, and without a header a workflow carries none', async () => {
  expect(await openTracing({ endpoint: undefined, service: 'x' })).toBe(NO_TRACING);
  expect(await NO_TRACING.span('x', {}, async ({ traceparent }) => traceparent)).toBeUndefined();

  const plain = await startService({ worker: true });
  try {
    const person = await (await signUp(plain)).key();
    const routineId = await createRoutine(person);
    const started = await person.post(`/v1/routines/${routineId}/run`);
    await runEnded(person, started.data.id);
    const history = await plain.temporal.workflow.getHandle(started.data.id).fetchHistory();
    expect(JSON.stringify(history)).not.toContain('traceparent');
  } finally {
    await plain.close();
  }
});

test('a malformed traceparent is not taken for a parent', () => {
  expect(parseTraceparent(`00-${CALLER.traceId}-${CALLER.spanId}-01`)).toMatchObject(CALLER);
  for (const text of [
    '',
    'x',
    `00-${'0'.repeat(32)}-${CALLER.spanId}-01`,
    `00-${CALLER.traceId}-${'0'.repeat(16)}-01`,
    `ff-${CALLER.traceId}-${CALLER.spanId}-01`,
    `00-${CALLER.traceId.toUpperCase()}-${CALLER.spanId}-01`,
  ]) {
    expect(parseTraceparent(text)).toBeUndefined();
  }
});

import { expect, test } from 'vitest';
import { pausedEvent, runEvent } from '#api/docs/webhooks.ts';
import { eventBody, MAX_RESULT_BYTES, pausedBody } from '#core/delivery/webhooks/event.ts';
import type { ComparedResult } from '#core/authoring/outcomes/index.ts';
import { newId } from '#lib/ids.ts';
import { endedRun } from './ended-run.ts';

const run = endedRun({
  trigger: 'manual',
  state: 'failed',
  reason: 'max_steps',
  errorMessage: 'The run reached its limit of steps.',
  scheduledFor: null,
  result: 'as far as it came',
  outcome: null,
  outcomeSummary: 'Half of it.',
  checks: [{ type: 'result_not_empty', passed: true, detail: 'The result has a text.' }],
  warnings: ['tools_failed'],
});

const CHANGES: ComparedResult = {
  against: null,
  unchangedRuns: 0,
  by: { list: '', key: '/id' },
  counts: { added: 1, removed: 0, changed: 0 },
  added: [{ id: 1 }],
  removed: [],
  changed: [],
  truncated: false,
};

function bodyWith(result: string): unknown {
  return JSON.parse(eventBody({ ...run, result }));
}

test('an event describes the run as it ended', () => {
  expect(JSON.parse(eventBody(run))).toEqual({
    type: 'run.failed',
    timestamp: '2026-03-01T09:00:07.000Z',
    data: {
      id: 'run_1',
      routineId: 'rtn_1',
      projectId: 'prj_1',
      trigger: 'manual',
      state: 'failed',
      reason: 'max_steps',
      errorMessage: 'The run reached its limit of steps.',
      scheduledFor: null,
      createdAt: '2026-03-01T09:00:00.250Z',
      startedAt: '2026-03-01T09:00:00.500Z',
      finishedAt: '2026-03-01T09:00:07.000Z',
      outcome: null,
      outcomeSummary: 'Half of it.',
      urgency: null,
      checks: [{ type: 'result_not_empty', passed: true, detail: 'The result has a text.' }],
      warnings: ['tools_failed'],
      result: 'as far as it came',
      resultTruncated: false,
      data: null,
      changes: null,
      usage: {
        inputTokens: 1_200,
        cachedInputTokens: 1_000,
        outputTokens: 300,
        reasoningTokens: 120,
        totalTokens: 1_500,
        costUsd: '0.00123',
        estimated: false,
      },
    },
  });
});

test('every event is as the document describes it', () => {
  const ids = { routineId: newId('routine'), projectId: newId('project') };
  const ended = { ...run, ...ids, id: newId('run') };
  for (const state of ['succeeded', 'failed', 'cancelled'] as const) {
    expect(runEvent.parse(JSON.parse(eventBody({ ...ended, state })))).toMatchObject({
      type: `run.${state}`,
      data: { state },
    });
  }
  const changed = eventBody({ ...ended, state: 'succeeded', deliver: 'changed', changes: CHANGES });
  expect(runEvent.parse(JSON.parse(changed))).toMatchObject({
    type: 'run.changed',
    data: { state: 'succeeded', changes: { added: [{ id: 1 }] } },
  });
  const { routineId: id, projectId } = ids;
  const stateReason = 'paused after 5 failed runs in a row';
  const pausedAt = run.finishedAt;
  const webhook = { webhookUrl: null, webhookFailedAt: null };
  const body = pausedBody({ id, projectId, name: 'Mine', stateReason, pausedAt, ...webhook }, ended.id);
  expect(pausedEvent.parse(JSON.parse(body)).data).toMatchObject({ reason: stateReason });
});

test('only the listed fields leave, and no other column of the row', () => {
  const row = { ...run, webhookUrl: 'https://example.com/?token=private', prompt: 'private' };
  expect(eventBody(row)).not.toContain('private');
});

test('a result of exactly 256 kB is whole, a longer one is cut between characters and says so', () => {
  const full = 'x'.repeat(MAX_RESULT_BYTES);
  expect(bodyWith(full)).toMatchObject({ data: { result: full, resultTruncated: false } });
  const result = 'x'.repeat(MAX_RESULT_BYTES - 2);
  expect(bodyWith(`${result}👍`)).toMatchObject({ data: { result, resultTruncated: true } });
});

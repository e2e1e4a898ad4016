import { expect, test } from 'vitest';
import { eventBody, MAX_RESULT_BYTES, type EndedRun } from '#core/webhooks/event.ts';

const run: EndedRun = {
  id: 'run_1',
  routineId: 'rtn_1',
  projectId: 'prj_1',
  trigger: 'manual',
  state: 'failed',
  reason: 'max_steps',
  errorMessage: 'The run reached its limit of steps.',
  scheduledFor: null,
  createdAt: new Date('2026-03-01T09:00:00.250Z'),
  startedAt: new Date('2026-03-01T09:00:00.500Z'),
  finishedAt: new Date('2026-03-01T09:00:07.000Z'),
  result: 'as far as it came',
  inputTokens: 1_200,
  cachedInputTokens: 1_000,
  outputTokens: 300,
  reasoningTokens: 120,
  costUsd: '0.00123',
};

const bodyWith = (result: string): unknown => JSON.parse(eventBody({ ...run, result }));

test('an event tells the run as it ended', () => {
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
      result: 'as far as it came',
      resultTruncated: false,
      usage: {
        inputTokens: 1_200,
        cachedInputTokens: 1_000,
        outputTokens: 300,
        reasoningTokens: 120,
        totalTokens: 1_500,
        costUsd: '0.00123',
      },
    },
  });
});

test('nothing but the listed fields leaves, whatever else the row has', () => {
  const row = { ...run, webhookUrl: 'https://example.com/?token=private', prompt: 'private' };
  expect(eventBody(row)).not.toContain('private');
});

test('a result of exactly 256 kB is whole, a longer one is cut between characters and says so', () => {
  const full = 'x'.repeat(MAX_RESULT_BYTES);
  expect(bodyWith(full)).toMatchObject({ data: { result: full, resultTruncated: false } });
  const result = 'x'.repeat(MAX_RESULT_BYTES - 2);
  expect(bodyWith(`${result}👍`)).toMatchObject({ data: { result, resultTruncated: true } });
});

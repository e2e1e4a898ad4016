import { expect, test } from 'vitest';
import { ModelFailure, retryDelayMs } from '#core/execution/steps/index.ts';

const failed = new ModelFailure('model_error', 'It failed.', { retryable: true });
const starting = new ModelFailure('model_error', 'It loads.', {
  retryable: true,
  isStarting: true,
});

function pauses(failure: ModelFailure, count: number, remainingMs = 3_600_000) {
  return Array.from({ length: count }, (_, index) =>
    retryDelayMs(failure, { providerFailures: index + 1, remainingMs }),
  );
}

test('five attempts at a model step bridge half a minute, and there is no sixth', () => {
  expect(pauses(failed, 5)).toEqual([2_000, 4_000, 8_000, 16_000, undefined]);
});

test('a server that is starting is waited for about five minutes, never longer than half a minute at a time', () => {
  const found = pauses(starting, 13);
  expect(found.slice(3)).toEqual([16_000, ...Array(8).fill(30_000), undefined]);
});

test.for([
  ['that asks for a pause of its own', { retryable: true, retryAfterMs: 7_000 }, 7_000],
  ['that would fail again', { retryable: false, retryAfterMs: 7_000 }, undefined],
  ['that asks for more time than the run has', { retryable: true, retryAfterMs: 60_000 }, undefined],
] as const)('after a failure %s the pause is that, or there is no next attempt', ([, options, pause]) => {
  const [found] = pauses(new ModelFailure('model_error', 'It failed.', options), 1, 30_000);
  expect(found).toBe(pause);
});

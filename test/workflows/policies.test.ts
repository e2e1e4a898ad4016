import { expect, test } from 'vitest';
import { MAX_MODEL_ATTEMPTS } from '#core/runs/index.ts';
import { modelStepPolicy } from '#workflows/policies.ts';

test('a provider that is down fails a run after about half a minute of retries, not sooner and not much later', () => {
  const { retry } = modelStepPolicy(900_000, 'model step 0');
  const seconds = (text: unknown) =>
    Number.parseInt(String(text), 10) * (String(text).endsWith('m') ? 60 : 1);
  let pause = seconds(retry!.initialInterval);
  let total = 0;
  for (let attempt = 1; attempt < MAX_MODEL_ATTEMPTS; attempt += 1) {
    total += pause;
    pause = Math.min(pause * retry!.backoffCoefficient!, seconds(retry!.maximumInterval));
  }
  expect(total).toBeGreaterThanOrEqual(20);
  expect(total).toBeLessThanOrEqual(60);
});

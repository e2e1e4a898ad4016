import { expect } from 'vitest';
import { obstacles } from '#core/upkeep/observability/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';

const test = serviceTest();

test('a hundred who ask at once for readiness share a look or two, and the next gets a fresh one', async ({
  service,
}) => {
  let looks = 0;
  let healthy = true;
  const engine = {
    isHealthy: async () => {
      looks += 1;
      return healthy;
    },
  };
  const ask = () => obstacles({ database: service.deps.database, engine });
  const answers = await Promise.all(Array.from({ length: 100 }, ask));
  expect(answers).toEqual(answers.map(() => ({ database: undefined, temporal: undefined })));
  expect(looks).toBeLessThanOrEqual(2);
  healthy = false;
  expect(await ask()).toEqual({ database: undefined, temporal: 'Temporal cannot be reached' });
});

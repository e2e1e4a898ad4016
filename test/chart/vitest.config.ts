import { defineConfig } from 'vitest/config';

/**
 * Lints and renders the chart, and lints compose.yaml. The tools are downloaded from three registries, so only at
 * night.
 */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/chart/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 2 * 60_000,
    hookTimeout: 10 * 60_000,
    env: { NODE_ENV: 'test' },
  },
});

import { defineConfig } from 'vitest/config';

/** Lints and renders the chart and lints compose.yaml: for the night, as its tools come from three registries. */
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

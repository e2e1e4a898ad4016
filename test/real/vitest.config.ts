import { defineConfig } from 'vitest/config';

/** Tests against software that others wrote, installed once a machine: for the night, and no part of `npm test`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/real/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // One file at a time: each has servers of its own, and a model that wants the whole machine.
    maxWorkers: 1,
    testTimeout: 5 * 60_000,
    // The first time, a server is built before the first test.
    hookTimeout: 60 * 60_000,
    expect: { poll: { timeout: 20_000 } },
    env: { NODE_ENV: 'test' },
  },
});

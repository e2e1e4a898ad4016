import { defineConfig } from 'vitest/config';

/** Tests with third-party software, which is installed once on each machine. They run at night, not in `npm test`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/real/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Only one file runs at a time: each file has its own servers, and the model needs the whole machine.
    maxWorkers: 1,
    testTimeout: 5 * 60_000,
    // The first run builds a server before its first test.
    hookTimeout: 60 * 60_000,
    expect: { poll: { timeout: 20_000 } },
    env: { NODE_ENV: 'test' },
  },
});

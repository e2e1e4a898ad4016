import { defineConfig } from 'vitest/config';

/** Builds the image and runs it. The tests run at night and are no part of `npm test`. */
export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    include: ['test/image/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 2 * 60_000,
    hookTimeout: 20 * 60_000,
    expect: { poll: { timeout: 30_000 } },
    env: { NODE_ENV: 'test' },
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Files share two servers; more of them at a time than cores would only slow each other down.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Real processes on a shared machine: a second look tells a starved test from a broken one, and says so.
    retry: process.env['CI'] === undefined ? 0 : 1,
    env: { NODE_ENV: 'test' },
  },
});

import { configDefaults, defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** Tests against software that others wrote, installed once a machine: for the night, and no part of `npm test`. */
export default defineConfig({
  ...base,
  root: new URL('../..', import.meta.url).pathname,
  test: {
    ...base.test,
    include: ['test/real/**/*.test.ts'],
    exclude: configDefaults.exclude,
    // One file at a time: each has servers of its own, and a model that wants the whole machine.
    maxWorkers: 1,
    testTimeout: 5 * 60_000,
    // The first time, a server is built before the first test.
    hookTimeout: 60 * 60_000,
  },
});

import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { TIMES } from './test/support/properties.ts';

// Each file has a process of its own, and many start more: all would compile the same modules anew.
process.env['NODE_COMPILE_CACHE'] ??= path.join(
  import.meta.dirname,
  'node_modules/.cache/compiled',
);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What needs other people's servers has a configuration of its own.
    exclude: [...configDefaults.exclude, 'test/real/**'],
    setupFiles: ['test/support/properties.ts', 'test/support/midnight.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Many files wait for a server, a page or a clock: three at a time keep two cores busy, as two do not.
    maxWorkers: 3,
    testTimeout: 30_000 * TIMES,
    hookTimeout: 60_000,
    // On a busy machine, what is waited for may take longer than the usual second.
    expect: { poll: { timeout: 20_000 } },
    env: { NODE_ENV: 'test' },
  },
});

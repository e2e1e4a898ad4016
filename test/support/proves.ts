import type { SpecRow } from '#test/contract/spec-rows.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The rows of the contract that this test proves. */
    proves?: readonly SpecRow[];
  }
}

/**
 * Options of a test that name the rows of the contract that it proves. `npm run docs:coverage` collects them.
 * @example test('an archived routine keeps its runs', proves('state.archive'), async () => { … });
 */
export function proves(...rows: readonly SpecRow[]) {
  return { meta: { proves: rows } };
}

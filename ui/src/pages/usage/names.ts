import { useAll } from '#ui/api/read.ts';
import type { Split } from './split.ts';

/**
 * Returns a function that names routines or models; a routine keeps its id until the list has been read as far as it.
 */
export function useNames(splitBy: Split): (key: string | null) => string {
  const routines = useAll(
    '/v1/routines',
    { query: { limit: 200 } },
    { enabled: splitBy === 'routine' },
  );
  const names = new Map(routines.data?.map(({ id, name }) => [id, name]));
  return (key) => {
    if (key === null) return 'All others';
    return key === MODEL_TESTS ? 'Tests of models' : (names.get(key) ?? key);
  };
}

/** Stands in the place of a routine for what tests of models have used. */
export const MODEL_TESTS = 'model-tests';

import { useRead } from '#ui/api/read.ts';
import type { Split } from './split.ts';

/** Returns a function that names routines or models; a routine that is not on the list keeps its id. */
export function useNames(splitBy: Split): (key: string | null) => string {
  const routines = useRead(
    '/v1/routines',
    { query: { limit: 200 } },
    { enabled: splitBy === 'routine', staleMs: 60_000 },
  );
  const names = new Map(routines.data?.map(({ id, name }) => [id, name]));
  return (key) => (key === null ? 'All others' : (names.get(key) ?? key));
}

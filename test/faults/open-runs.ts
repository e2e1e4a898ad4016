import type { Database } from '#lib/database/index.ts';

/** Counts every second how many runs are queued or running. */
export function countOpenRuns(database: Database): { readonly most: number; stop(): void } {
  let most = 0;
  const read = async () => {
    const found = await database.row<{
      open: number;
    }>`select count(*) as open from runs where state in ('queued', 'running')`;
    most = Math.max(most, found?.open ?? 0);
  };
  // Postgres may be down at this moment.
  const timer = setInterval(() => void read().catch(() => undefined), 1_000);
  return {
    get most() {
      return most;
    },
    stop: () => clearInterval(timer),
  };
}

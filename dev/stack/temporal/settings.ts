import { SEARCH_ATTRIBUTE } from '#lib/temporal/names.ts';

/** Names of the search attributes of runs; all are keywords. */
export const SEARCH_ATTRIBUTES = Object.values(SEARCH_ATTRIBUTE).map(({ name }) => name);

/** Journal of the development server's SQLite file; the default one is three to four times slower. */
export const SQLITE_PRAGMAS = { journal_mode: 'wal', synchronous: 'normal' } as const;

/**
 * Dynamic configuration, each key as in server 1.32. Its one history shard polls for tasks 20 times
 * a second by default, which makes every step wait for the next 50 ms; at 400 and more the polling
 * itself costs throughput. The rates per second are limits meant for one of many hosts
 * (matching 1,200, history 3,000, frontend and namespace 2,400): some ten calls make a workflow.
 * A task queue has one partition: fairness holds within a partition, and among the default of four
 * a few runs of a small project waited three times as long behind another's thousand.
 */
export const DYNAMIC_CONFIG: Readonly<Record<string, number | boolean>> = {
  'history.transferProcessorMaxPollRPS': 100,
  'history.timerProcessorMaxPollRPS': 100,
  'system.enableActivityEagerExecution': true,
  'matching.useNewMatcher': true,
  'matching.enableFairness': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'frontend.rps': 20_000,
  'frontend.namespaceRPS': 20_000,
  'matching.rps': 20_000,
  'history.rps': 50_000,
};

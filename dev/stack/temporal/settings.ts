import { SEARCH_ATTRIBUTE } from '#lib/temporal/names.ts';

/** Names of the search attributes of runs; all are keywords. */
export const SEARCH_ATTRIBUTES = Object.values(SEARCH_ATTRIBUTE).map(({ name }) => name);

/** Journal of the development server's SQLite file; the default one is three to four times slower. */
export const SQLITE_PRAGMAS = { journal_mode: 'wal', synchronous: 'normal' } as const;

/**
 * Dynamic configuration, with the keys of server 1.32. By default the one history shard polls for tasks 20 times a
 * second, so every step waits for the next 50 ms; from 400 polls on, the polling itself costs throughput. The default
 * rates per second are meant for one of many hosts (matching 1,200, history 3,000, frontend and namespace 2,400), and a
 * workflow takes some ten calls. A task queue has one partition, because fairness holds only within a partition: with
 * the default of four, a few runs of a small project waited three times as long behind another project's thousand.
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

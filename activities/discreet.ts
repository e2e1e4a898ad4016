import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { Log } from '#lib/log.ts';

/**
 * Keeps unexpected errors out of Temporal's history, which shows their messages and stacks as plain text; a database
 * driver's error quotes the value that caused it. The log has the error, the history has `internal_error`.
 */
export function discreet<A extends object>(log: Log, activities: A): A {
  const wrapped = Object.entries(activities).map(([name, work]) => [
    name,
    async (...input: unknown[]) => {
      try {
        return await work(...input);
      } catch (error) {
        if (error instanceof TemporalFailure) throw error;
        log.error({ err: error, activity: name }, 'an activity failed');
        throw ApplicationFailure.create({ type: 'internal_error', message: 'See the log.' });
      }
    },
  ]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same names with the same signatures
  return Object.fromEntries(wrapped) as A;
}

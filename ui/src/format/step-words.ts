import type { Shape } from '#ui/api/types.ts';
import { isOver } from './run-words.ts';

/**
 * Chooses the word of the badge of a step. The end of a run ends its open steps too, as failed and at the same instant:
 * those did not fail by themselves. Any other call that failed without having begun was refused.
 */
export function stepBadgeOf(
  { kind, state, startedAt, finishedAt }: Shape<'Step'>,
  run: Pick<Shape<'Run'>, 'state' | 'finishedAt'> | undefined,
): string {
  if (state !== 'failed') return state;
  if (run !== undefined && isOver(run) && finishedAt === run.finishedAt) {
    if (run.state === 'cancelled') return 'cancelled';
    return startedAt === null ? 'not_begun' : state;
  }
  return kind === 'tool' && startedAt === null ? 'refused' : state;
}

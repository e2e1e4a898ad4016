import { definitionForm } from '#core/authoring/definition/index.ts';
import type { RoutineState } from './routine.ts';

/** The transitions of a routine, for conditions in SQL, the docs, and a test of every state in every operation. */
export const ROUTINE_TRANSITIONS = [
  {
    to: 'draft',
    from: ['draft', 'active', 'paused'],
    by: ['person', 'service'],
    when: `what its runs do is changed: ${definitionForm.names.map((name) => `\`${name}\``).join(', ')}, or its tool policies`,
  },
  {
    to: 'active',
    from: ['draft', 'paused'],
    by: ['person'],
    when: 'it is activated, and a manual run has succeeded since the last such change',
  },
  { to: 'paused', from: ['draft', 'active'], by: ['person'], when: 'someone pauses it' },
  {
    to: 'paused',
    from: ['active'],
    by: ['service'],
    when: 'the service pauses it and says why: too many failed scheduled runs in a row, a schedule that has ended (`endsAt`), a run that said it was the last (`completed`), one that can no longer be computed, or a model account that is gone',
  },
  {
    to: 'archived',
    from: ['draft', 'active', 'paused'],
    by: ['person'],
    when: 'it is deleted; its runs stay, and nothing follows unless it is restored',
  },
  {
    to: 'draft',
    from: ['archived'],
    by: ['restorer'],
    when: 'it is restored, as a new revision that needs a proof run',
  },
] as const satisfies readonly {
  readonly to: RoutineState;
  readonly from: readonly RoutineState[];
  readonly by: readonly Mover[];
  readonly when: string;
}[];

/**
 * The cause of a transition. Only a restorer takes a routine out of the archive; no other change affects an archived
 * routine.
 */
export type Mover = 'person' | 'service' | 'restorer';

export type StateMove = (typeof ROUTINE_TRANSITIONS)[number]['to'];

export function routineStatesBefore(to: StateMove, by: Mover = 'person'): RoutineState[] {
  return ROUTINE_TRANSITIONS.filter(
    (transition) => transition.to === to && transition.by.some((mover) => mover === by),
  ).flatMap(({ from }) => [...from]);
}

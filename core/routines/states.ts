import type { RoutineState } from './routine.ts';

/** The routine's transitions. A test walks every state through every operation and compares; the docs print them. */
export const ROUTINE_TRANSITIONS = [
  {
    to: 'draft',
    from: ['draft', 'active', 'paused'],
    when: 'what its runs do is changed: instructions, variables, model, skills or their order, limits, tool policies',
  },
  {
    to: 'active',
    from: ['draft', 'paused'],
    when: 'it is activated, and a manual run has succeeded since the last such change',
  },
  { to: 'paused', from: ['draft', 'active'], when: 'someone pauses it' },
  {
    to: 'paused',
    from: ['active'],
    when: 'the service pauses it and says why: too many failed scheduled runs in a row, or a schedule that can no longer be computed',
  },
  {
    to: 'archived',
    from: ['draft', 'active', 'paused'],
    when: 'it is deleted; its runs stay, and nothing follows',
  },
] as const satisfies readonly {
  readonly to: RoutineState;
  readonly from: readonly RoutineState[];
  readonly when: string;
}[];

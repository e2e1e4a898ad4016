import { useState } from 'react';
import { useList } from '#ui/api/read.ts';

export interface RehearsalChoice {
  /** Undefined if no tool of the routine may write, so that a rehearsal would be a normal run. */
  readonly rehearses: boolean | undefined;
  readonly choose: (rehearses: boolean) => void;
}

/** Keeps the choice to rehearse; by default it is on for a routine with a confirmed tool that may write. */
export function useRehearsal(routineId: string | undefined): RehearsalChoice {
  const [chosen, choose] = useState<boolean>();
  const tools = useList(
    '/v1/routines/{routineId}/tools',
    { path: { routineId: routineId ?? '' }, query: { limit: 200 } },
    { enabled: routineId !== undefined },
  );
  const mayWrite = (tools.data ?? []).some(
    ({ state, annotations }) =>
      state !== 'disabled' && (annotations?.['readOnlyHint'] !== true || annotations['destructiveHint'] === true),
  );
  return { rehearses: mayWrite ? (chosen ?? true) : undefined, choose };
}

import type { InputOf, Shape } from '#ui/api/types.ts';

/** Names what the list shows: the routines in one state, or those that the service has stopped. */
export type Shown = Shape<'RoutineSummary'>['state'] | 'stopped';

export const SHOWN = [
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'stopped', label: 'Stopped by the service' },
  { value: 'draft', label: 'Drafts' },
  { value: 'archived', label: 'Archived' },
] as const satisfies readonly { value: Shown; label: string }[];

/** Reads the filter from the address; undefined where it names none. */
export function shownOf(asked: string | undefined): Shown | undefined {
  return SHOWN.find(({ value }) => value === asked)?.value;
}

/** Returns the filter as the API takes it. */
export function queryOf(shown: Shown | undefined): InputOf<'/v1/routines', 'get'>['query'] {
  if (shown === undefined) return {};
  return shown === 'stopped' ? { stateChangedBy: 'service' } : { state: shown };
}

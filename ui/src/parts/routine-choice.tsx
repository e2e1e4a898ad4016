import { useState } from 'react';
import { useRead, useSettled } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Combobox } from './combobox.tsx';

type RoutineSummary = Shape<'RoutineSummary'>;

export interface RoutineChoiceProps {
  readonly label?: string;
  readonly onChoose: (routineId: string) => void;
  /** Leaves archived routines out. */
  readonly open?: boolean;
}

/** Finds one routine of many by its name; the server searches. */
export function RoutineChoice({ label, onChoose, open = false }: RoutineChoiceProps) {
  const [typed, setTyped] = useState('');
  const q = useSettled(typed.trim());
  const found = useRead('/v1/routines', { query: { limit: 20, ...(q === '' ? {} : { q }) } }, { keepPrevious: true });
  return (
    <Combobox<RoutineSummary>
      {...(label === undefined ? {} : { label })}
      items={(found.data ?? []).filter(({ state }) => !open || state !== 'archived')}
      value={null}
      keyOf={({ id }) => id}
      labelOf={({ name }) => name}
      placeholder="Find a routine"
      empty={found.error?.message ?? 'No routine has this name.'}
      onType={setTyped}
      onChange={({ id }) => onChoose(id)}
    />
  );
}

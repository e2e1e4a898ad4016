import type { Shape } from '#ui/api/types.ts';
import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';

type State = Shape<'RoutineSummary'>['state'];

const STATES = [
  { value: 'all', label: 'All but archived' },
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'draft', label: 'Drafts' },
  { value: 'archived', label: 'Archived' },
] as const satisfies readonly { value: State | 'all'; label: string }[];

export interface FiltersProps {
  readonly state: State | undefined;
  readonly search: string;
  readonly onState: (state: State | undefined) => void;
  readonly onSearch: (search: string) => void;
}

export function Filters({ state, search, onState, onSearch }: FiltersProps) {
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Input
        type="search"
        aria-label="Search by name"
        placeholder="Search by name"
        defaultValue={search}
        onChange={({ target }) => onSearch(target.value)}
        className="max-w-64"
      />
      <Select
        compact
        label="State"
        options={STATES}
        value={state ?? 'all'}
        onChange={(next) => onState(next === 'all' ? undefined : next)}
      />
    </div>
  );
}

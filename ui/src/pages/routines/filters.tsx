import { Input } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SHOWN, type Shown } from './shown.ts';

const OPTIONS = [{ value: 'all', label: 'All but archived' }, ...SHOWN] as const;

export interface FiltersProps {
  readonly shown: Shown | undefined;
  readonly search: string;
  readonly onShown: (shown: Shown | undefined) => void;
  readonly onSearch: (search: string) => void;
}

export function Filters({ shown, search, onShown, onSearch }: FiltersProps) {
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Input
        type="search"
        aria-label="Search by name"
        placeholder="Search by name"
        defaultValue={search}
        onChange={({ target }) => onSearch(target.value)}
        className="sm:max-w-64"
      />
      <Select
        compact
        label="State"
        options={OPTIONS}
        value={shown ?? 'all'}
        onChange={(next) => onShown(next === 'all' ? undefined : next)}
      />
    </div>
  );
}

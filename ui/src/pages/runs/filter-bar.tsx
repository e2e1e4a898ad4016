import { X } from 'lucide-react';
import { Button } from '#ui/parts/button.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Select, type Option } from '#ui/parts/select.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { ANY, OUTCOMES, STATES, TRIGGERS, type Search } from './filters.ts';

export interface FilterBarProps {
  readonly search: Search;
  readonly onChange: (change: Search) => void;
}

const NONE: Search = {
  state: undefined,
  outcome: undefined,
  trigger: undefined,
  backfillId: undefined,
  since: undefined,
  until: undefined,
};

/** Narrows the list down; every choice goes into the address. */
export function FilterBar({ search, onChange }: FilterBarProps) {
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <div
      role="search"
      aria-label="Runs"
      className="mb-4 grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap"
    >
      <Choice
        label="State"
        options={STATES}
        value={search.state}
        onChange={(state) => onChange({ state })}
      />
      <Choice
        label="Outcome"
        options={OUTCOMES}
        value={search.outcome}
        onChange={(outcome) => onChange({ outcome })}
      />
      <Choice
        label="Started by"
        options={TRIGGERS}
        value={search.trigger}
        onChange={(trigger) => onChange({ trigger })}
      />
      <Day label="From" value={search.since} onChange={(since) => onChange({ since })} />
      <Day label="To" value={search.until} onChange={(until) => onChange({ until })} />
      {search.backfillId !== undefined && (
        <span>
          <Badge>Of one backfill</Badge>
        </span>
      )}
      {isFiltered && (
        <Button kind="quiet" icon={X} onClick={() => onChange(NONE)}>
          Clear
        </Button>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly options: readonly Option<string>[];
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

function Choice({ label, options, value, onChange }: ChoiceProps) {
  return (
    <Select
      compact
      className="max-sm:w-full"
      label={label}
      options={options}
      value={value ?? ANY}
      onChange={(next) => onChange(next === ANY ? undefined : next)}
    />
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

function Day({ label, value, onChange }: DayProps) {
  return (
    <label className="flex items-center gap-1.5 text-sm text-muted max-sm:col-span-2">
      <span className="max-sm:w-9">{label}</span>
      <span className="w-36 max-sm:grow">
        <Input
          type="date"
          value={value ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        />
      </span>
    </label>
  );
}

import { ListFilter, Search as Magnifier, X } from 'lucide-react';
import { useEffect, useEffectEvent, useId, useState } from 'react';
import { useRead, useSettled } from '#ui/api/read.ts';
import { addDays, dayName, dayStart } from '#ui/format/days.ts';
import { date } from '#ui/format/times.ts';
import { Button } from '#ui/parts/button.tsx';
import { Input } from '#ui/parts/input.tsx';
import { RoutineChoice } from '#ui/parts/routine-choice.tsx';
import { Select, type Option } from '#ui/parts/select.tsx';

/** The filters in the address. */
export interface Search {
  readonly q?: string | undefined;
  readonly routineId?: string | undefined;
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly trigger?: string | undefined;
  readonly backfillId?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export interface FilterBarProps {
  readonly search: Search;
  /** @param replace true to replace the present address in the history */
  readonly onChange: (change: Search, replace?: boolean) => void;
}

/** Searches and filters the list; each active filter is a chip, and is kept in the address. */
export function FilterBar({ search, onChange }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div role="search" aria-label="Runs" className="mb-4 flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox search={search} onChange={onChange} />
        <Button
          icon={ListFilter}
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => setOpen(!isOpen)}
        >
          Filter
        </Button>
        <Chips search={search} onChange={onChange} />
      </div>
      {isOpen && (
        <div id={id} className="grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
          {CHOICES.map(({ name, label, options }) => (
            <Select
              key={name}
              compact
              className="max-sm:w-full"
              label={label}
              options={[{ value: ANY, label: `Any ${label.toLowerCase()}` }, ...options]}
              value={search[name] ?? ANY}
              onChange={(next) => onChange({ [name]: next === ANY ? undefined : next })}
            />
          ))}
          <div className="max-sm:col-span-2 sm:w-52">
            <RoutineChoice label="Routine" onChoose={(routineId) => onChange({ routineId })} />
          </div>
          <Button size="sm" onClick={() => onChange({ since: dayName(addDays(new Date(), -6)), until: undefined })}>
            Last 7 days
          </Button>
          <div className="flex flex-wrap gap-2 max-sm:contents">
            <Day label="From" value={search.since} onChange={(since) => onChange({ since })} />
            <Day label="To" value={search.until} onChange={(until) => onChange({ until })} />
          </div>
        </div>
      )}
    </div>
  );
}

/** Searches once the text stops changing, so that Back removes the whole search and not single letters. */
function SearchBox({ search, onChange }: FilterBarProps) {
  const now = search.q ?? '';
  const [typed, setTyped] = useState(now);
  const [seen, setSeen] = useState({ address: now, sent: now });
  const q = useSettled(typed.trim());
  // If Back, or a button that shows all runs, has changed the address, take the search from there.
  if (now !== seen.address) {
    setSeen({ address: now, sent: now });
    if (now !== seen.sent) setTyped(now);
  } else if (q !== seen.sent) setSeen({ ...seen, sent: q });
  const send = useEffectEvent(() => {
    if (q === now) return;
    onChange({ q: q === '' ? undefined : q }, now !== '' && q !== '');
  });
  useEffect(() => send(), [q]);
  return (
    <div className="relative w-full sm:w-72">
      <Magnifier aria-hidden className="absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint" />
      <Input
        type="search"
        aria-label="Search runs"
        placeholder="Search the results of runs"
        maxLength={200}
        className="pl-8"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </div>
  );
}

/** Shows each active filter with a button to remove it. */
function Chips({ search, onChange }: FilterBarProps) {
  const { routineId, backfillId, since, until } = search;
  const routine = useRead(
    '/v1/routines/{routineId}',
    { path: { routineId: routineId ?? '' } },
    { enabled: routineId !== undefined },
  );
  const day = (text: string) => date(dayStart(text) ?? new Date(text));
  const chips: readonly (readonly [keyof Search, string])[] = [
    ...CHOICES.flatMap(({ name, label, options }) => {
      const value = search[name];
      const known = options.find((option) => option.value === value)?.label ?? value;
      return known === undefined ? [] : [[name, `${label}: ${known}`] as const];
    }),
    ...(routineId === undefined ? [] : [['routineId', `Routine: ${routine.data?.name ?? routineId}`] as const]),
    ...(backfillId === undefined ? [] : [['backfillId', 'Of one backfill'] as const]),
    ...(dayStart(since) === undefined || since === undefined ? [] : [['since', `From ${day(since)}`] as const]),
    ...(dayStart(until) === undefined || until === undefined ? [] : [['until', `To ${day(until)}`] as const]),
  ];
  return (
    <>
      {chips.map(([name, text]) => (
        <button
          key={name}
          type="button"
          title="Remove this filter"
          onClick={() => onChange({ [name]: undefined })}
          className="inline-flex min-h-7 max-w-full items-center gap-1.5 rounded-md border border-line bg-sunken px-2 text-sm text-ink hover:bg-hover pointer-coarse:min-h-10"
        >
          <span className="truncate">{text}</span>
          <X aria-label="Remove" className="size-3.5 shrink-0 text-faint" />
        </button>
      ))}
      {chips.length > 1 && (
        <Button
          kind="quiet"
          size="sm"
          onClick={() => onChange(Object.fromEntries(chips.map(([name]) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </>
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

/** Value of a select without a filter, as a select must have a value. */
const ANY = 'any';

const CHOICES: readonly {
  readonly name: 'state' | 'outcome' | 'trigger';
  readonly label: string;
  readonly options: readonly Option<string>[];
}[] = [
  {
    name: 'state',
    label: 'State',
    options: [
      { value: 'queued', label: 'Queued' },
      { value: 'running', label: 'Running' },
      { value: 'succeeded', label: 'Succeeded' },
      { value: 'failed', label: 'Failed' },
      { value: 'cancelled', label: 'Cancelled' },
      { value: 'skipped', label: 'Skipped' },
    ],
  },
  {
    name: 'outcome',
    label: 'Outcome',
    options: [
      { value: 'done', label: 'Succeeded' },
      { value: 'nothing_to_report', label: 'Nothing to report' },
      { value: 'partial', label: 'Succeeded in part' },
    ],
  },
  {
    name: 'trigger',
    label: 'Start',
    options: [
      { value: 'schedule', label: 'By its schedule' },
      { value: 'manual', label: 'Manually' },
      { value: 'backfill', label: 'By a backfill' },
      { value: 'follow_up', label: 'By a question' },
      { value: 'rehearsal', label: 'As a rehearsal' },
    ],
  },
];

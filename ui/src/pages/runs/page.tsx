import { getRouteApi } from '@tanstack/react-router';
import { Play, X } from 'lucide-react';
import { useList } from '#ui/api/read.ts';
import type { InputOf } from '#ui/api/types.ts';
import { addDays, dayStart } from '#ui/format/days.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Input } from '#ui/parts/input.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Select, type Option } from '#ui/parts/select.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { RunTable } from './run-table.tsx';

const { useNavigate, useParams, useSearch } = getRouteApi('/account/p/$projectId/runs');

const REFRESH_MS = 5_000;

/** Lists the runs of the project, the newest first. The address keeps the filters. */
export function RunsPage() {
  const { projectId } = useParams();
  const search = useSearch();
  const navigate = useNavigate();
  // The server says which states and triggers there are; an address may name others.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks them
  const query = queryOf(search) as NonNullable<InputOf<'/v1/runs', 'get'>['query']>;
  const runs = useList('/v1/runs', { query }, { everyMs: REFRESH_MS, keepPrevious: true });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <>
      <PageHeader title="Runs" />
      <FilterBar search={search} onChange={(change) => void navigate({ search: (now) => ({ ...now, ...change }) })} />
      <Await of={runs} skeleton={<SkeletonRows rows={8} />} errorTitle="The runs could not be read">
        {(rows) => {
          if (rows.length > 0) {
            return (
              <>
                <RunTable runs={rows} />
                <Pager list={runs} />
              </>
            );
          }
          return isFiltered ? (
            <EmptyState
              icon={Play}
              title="No run fits these filters"
              action={<Button onClick={() => void navigate({ search: {} })}>Show all runs</Button>}
            />
          ) : (
            <EmptyState
              icon={Play}
              title="No runs yet"
              action={
                <ButtonLink kind="primary" to="/p/$projectId/routines" params={{ projectId }}>
                  Go to routines
                </ButtonLink>
              }
            >
              Run a routine once to see what it says.
            </EmptyState>
          );
        }}
      </Await>
    </>
  );
}

interface FilterBarProps {
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
function FilterBar({ search, onChange }: FilterBarProps) {
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <div role="search" aria-label="Runs" className="mb-4 grid grid-cols-2 items-center gap-2 sm:flex sm:flex-wrap">
      <Choice label="State" options={STATES} value={search.state} onChange={(state) => onChange({ state })} />
      <Choice label="Outcome" options={OUTCOMES} value={search.outcome} onChange={(outcome) => onChange({ outcome })} />
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

/** Value of a select without a filter, as a select must have a value. */
const ANY = 'any';

const STATES: readonly Option<string>[] = [
  { value: ANY, label: 'Any state' },
  { value: 'queued', label: 'Queued' },
  { value: 'running', label: 'Running' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'skipped', label: 'Skipped' },
];

const OUTCOMES: readonly Option<string>[] = [
  { value: ANY, label: 'Any outcome' },
  { value: 'done', label: 'Succeeded' },
  { value: 'nothing_to_report', label: 'Nothing to report' },
  { value: 'partial', label: 'Succeeded in part' },
];

const TRIGGERS: readonly Option<string>[] = [
  { value: ANY, label: 'Any start' },
  { value: 'schedule', label: 'By its schedule' },
  { value: 'manual', label: 'By hand or API' },
  { value: 'backfill', label: 'By a backfill' },
  { value: 'follow_up', label: 'By a question' },
];

interface Search {
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly trigger?: string | undefined;
  readonly backfillId?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Makes the API's query of the page's address: its days become instants in the reader's time zone. */
function queryOf({ since, until, ...rest }: Search) {
  const from = dayStart(since);
  const to = dayStart(until);
  return {
    limit: 50,
    ...rest,
    ...(from === undefined ? {} : { since: from.toISOString() }),
    // The last day belongs to it.
    ...(to === undefined ? {} : { until: addDays(to, 1).toISOString() }),
  };
}

import type { Option } from '#ui/parts/select.tsx';

const DAY_MS = 86_400_000;

/** Value of a select without a filter, as a select must have a value. */
export const ANY = 'any';

export const STATES: readonly Option<string>[] = [
  { value: ANY, label: 'Any state' },
  { value: 'queued', label: 'Queued' },
  { value: 'running', label: 'Running' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'skipped', label: 'Skipped' },
];

export const OUTCOMES: readonly Option<string>[] = [
  { value: ANY, label: 'Any outcome' },
  { value: 'done', label: 'Done' },
  { value: 'nothing_to_report', label: 'Nothing to report' },
  { value: 'partial', label: 'Done in part' },
];

export const TRIGGERS: readonly Option<string>[] = [
  { value: ANY, label: 'Any start' },
  { value: 'schedule', label: 'By its schedule' },
  { value: 'manual', label: 'By hand or API' },
  { value: 'backfill', label: 'By a backfill' },
];

export interface Search {
  readonly state?: string | undefined;
  readonly outcome?: string | undefined;
  readonly trigger?: string | undefined;
  readonly backfillId?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** Makes the API's query of the page's address: its days become instants in the reader's time zone. */
export function queryOf({ since, until, ...rest }: Search) {
  const from = dayStart(since);
  const to = dayStart(until);
  return {
    limit: 50,
    ...rest,
    ...(from === undefined ? {} : { since: from.toISOString() }),
    // The last day belongs to it.
    ...(to === undefined ? {} : { until: new Date(to.getTime() + DAY_MS).toISOString() }),
  };
}

function dayStart(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00` : text);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

import { useAll } from '#ui/api/read.ts';

export const SPLITS = [
  { value: 'model', label: 'By model' },
  { value: 'routine', label: 'By routine' },
] as const;

export type Split = (typeof SPLITS)[number]['value'];

/** Reads from the address how days are split; by model if the address does not say. */
export function splitOf(text: string | undefined): Split {
  return text === 'routine' ? 'routine' : 'model';
}

const DAY_MS = 86_400_000;

export const SPANS = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last year' },
] as const;

type Span = (typeof SPANS)[number]['value'];

/** Reads the span from the address; 30 days by default. */
export function spanOf(text: string | undefined): Span {
  return SPANS.find(({ value }) => value === text)?.value ?? '30';
}

/** Returns the first and last day (UTC, both included) of a span that ends today. */
export function daysOf(span: Span, now = Date.now()): { readonly from: string; readonly to: string } {
  return { from: isoDay(now - (Number(span) - 1) * DAY_MS), to: isoDay(now) };
}

/** Lists every day from the first to the last, both included, also days without use. */
export function everyDay(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) days.push(isoDay(at));
  return days;
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns a function that names routines or models. A routine that has not been read yet is named by its id. */
export function useNames(splitBy: Split): (key: string | null) => string {
  const routines = useAll('/v1/routines', { query: { limit: 200 } }, { enabled: splitBy === 'routine' });
  const names = new Map(routines.data?.map(({ id, name }) => [id, name]));
  return (key) => {
    if (key === null) return 'All others';
    return BESIDE_RUNS.get(key) ?? names.get(key) ?? key;
  };
}

/** Names for model calls outside of runs, in place of a routine. */
export const BESIDE_RUNS: ReadonlyMap<string, string> = new Map([
  ['model-tests', 'Tests of models'],
  ['drafts', 'Drafts of routines'],
]);

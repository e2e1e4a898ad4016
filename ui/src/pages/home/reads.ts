import type { QueryClient } from '@tanstack/react-query';
import { aheadOf } from '#ui/api/read.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';

export const UNREAD = ['/v1/results/unread', {}] as const;
export const NEWS = ['/v1/results', { query: { unread: 'true', worthReading: 'true', limit: 20 } }] as const;
export const ATTENTION = ['/v1/attention', {}] as const;
export const WEEK = ['/v1/results/days', { query: { timezone: VIEWER_ZONE } }] as const;

/** The most entries in a list of current or coming runs. */
export const SHOWN = 8;
export const RUNNING = ['/v1/runs', { query: { state: 'running', limit: SHOWN } }] as const;

export function projectOf(projectId: string) {
  return ['/v1/projects/{projectId}', { path: { projectId } }] as const;
}

/** Returns the read of the usage from the first of a month up to a day such as `2026-11-25`. */
export function usageUpTo(day: string) {
  return ['/v1/usage', { query: { from: `${day.slice(0, 8)}01`, to: day, groupBy: 'day' } }] as const;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Returns the read of the runs due within an hour. It stays the same for a minute, so callers share one response. */
export function dueAfter(now: number) {
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const [from, to] = [new Date(minute), new Date(minute + HOUR_MS)];
  return ['/v1/schedules/occurrences', { query: { from: from.toISOString(), to: to.toISOString() } }] as const;
}

/**
 * Starts all reads of Home while its code loads, from top to bottom, because a browser allows few concurrent requests.
 */
export function readHomeAhead(client: QueryClient, projectId: string): void {
  const ahead = aheadOf(client, projectId);
  const now = new Date();
  ahead.read(...UNREAD);
  ahead.list(...NEWS);
  ahead.read(...ATTENTION);
  ahead.read(...WEEK);
  ahead.read(...projectOf(projectId));
  ahead.read(...usageUpTo(now.toISOString().slice(0, 10)));
  ahead.read(...RUNNING);
  ahead.read(...dueAfter(now.getTime()));
}

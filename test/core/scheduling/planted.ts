import type { Routine } from '#core/authoring/routines/index.ts';
import { dyingProcess } from '#test/support/end-deps.ts';
import type { ClaimDeps } from '#core/scheduling/claim.ts';
import type { Database } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { nextInTimetable, parseStoredSchedule, timesBetween } from '#lib/schedule/index.ts';
import { plantActiveRoutines, plantOrganization } from '#test/support/given.ts';

export interface Planted {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
}

export interface PlantedFields {
  /** The id of a single routine. Default a new one. */
  readonly id?: string;
  readonly schedule?: string;
  readonly timezone?: string;
  readonly nextRunAt?: Date | null;
  readonly startsAt?: Date | null;
  readonly endsAt?: Date | null;
  readonly skipDates?: readonly string[];
  readonly jitterSeconds?: number;
  readonly overlap?: Routine['overlap'];
  readonly misfire?: 'run_once' | 'skip';
  readonly provider?: string;
  readonly modelId?: string;
  readonly maxTokensPerDay?: number;
  readonly maxCostUsdPerMonth?: string;
  /** An existing routine into whose project to plant. */
  readonly beside?: Planted;
}

/** Makes the deps that claims need in a test. A claim has no further effects. */
export function selfHosted(database: Database): ClaimDeps {
  return {
    ...dyingProcess(database),
    planRule: { billingConfigured: false, defaultPlan: 'scale' },
    providerEnabled: (provider) => provider === 'gateway',
  };
}

/** Plants active routines as the API stores them. */
export async function plantRoutines(database: Database, count: number, fields: PlantedFields = {}): Promise<Planted[]> {
  const { organizationId, projectId } = fields.beside ?? (await plantOrganization(database));
  const ids = Array.from({ length: count }, () => fields.id ?? newId('routine'));
  const { id: _id, provider, beside: _beside, ...others } = fields;
  const modelProvider = provider ?? 'gateway';
  await plantActiveRoutines(database, projectId, ids, { modelProvider, ...others });
  return ids.map((id) => ({ id, organizationId, projectId }));
}

export async function plantRoutine(database: Database, fields: PlantedFields = {}) {
  return (await plantRoutines(database, 1, fields))[0]!;
}

export interface Occurrence {
  readonly id: string;
  readonly state: string;
  readonly reason: string | null;
  readonly from: Date;
  readonly until: Date;
  readonly count: number;
}

/** Returns the stored occurrences of a routine, in order. */
export function occurrencesOf(database: Database, routineId: string): Promise<Occurrence[]> {
  return database.rows<Occurrence>`
    select id, state, reason, scheduled_for as from, coalesce(skipped_until, scheduled_for) as until,
      coalesce(skipped_count, 1) as count
    from runs where routine_id = ${routineId} and trigger = 'schedule' order by scheduled_for
  `;
}

export async function routineOf(database: Database, id: string) {
  const found = await database.row<{
    state: string;
    stateReason: string | null;
    nextRunAt: Date | null;
  }>`select state, state_reason as "stateReason", next_run_at as "nextRunAt" from routines where id = ${id}`;
  return found!;
}

/**
 * Returns the faults of a record that should account once for each occurrence after `after` up to `until`. The record
 * must begin with the first, have no gaps or overlaps, count its occurrences, and end with the last.
 */
export function accountingFaults(
  record: readonly Occurrence[],
  input: {
    schedule: string;
    timezone: string;
    startsAt?: Date | null;
    endsAt?: Date | null;
    skipDates?: readonly string[];
    after: Date;
    until: Date;
  },
): string[] {
  const { timezone, until, startsAt = null, endsAt = null, skipDates = [] } = input;
  const schedule = parseStoredSchedule(input.schedule);
  const timetable = { schedule, timezone, startsAt, endsAt, skipDates };
  const faults: string[] = [];
  let last = input.after;
  for (const { from, until: end, count, state } of record) {
    const expected = nextInTimetable(timetable, last);
    if (from.getTime() !== expected?.getTime()) {
      faults.push(`${state} begins at ${from.toISOString()}, not at ${expected?.toISOString()}`);
    }
    const spanned = timesBetween(timetable, from, end, 1_000_000).count + 1;
    if (spanned !== count) faults.push(`${state} counts ${count} of ${spanned}`);
    last = end;
  }
  const open = nextInTimetable(timetable, last);
  if (open !== undefined && open <= until) faults.push(`nothing accounts for ${open.toISOString()}`);
  return faults;
}

import { admitted, lacksSecondFactor } from '#core/accounts/organizations/index.ts';
import { ALL_DIGESTS, digestScope, hasEndedDigests, narrowOptOut, optIn } from '#core/foundation/outbox/index.ts';
import { checkTimeZone } from '#core/foundation/timetable/index.ts';
import { databaseTime, sql, type Db } from '#lib/database/index.ts';
import { dateIn, nextOccurrence, parseStoredSchedule } from '#lib/schedule/index.ts';

export const FREQUENCIES = ['off', 'daily', 'weekly'] as const;

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** When a person gets the digest of a project. */
interface DigestTimes {
  readonly frequency: (typeof FREQUENCIES)[number];
  readonly weekday: (typeof WEEKDAYS)[number];
  /** Hour of the day in the time zone. */
  readonly hour: number;
  readonly timezone: string;
}

export interface DigestSettings extends DigestTimes {
  /** Time of the next digest; null while the digest is off. */
  readonly nextAt: Date | null;
}

export type DigestPatch = {
  readonly [Field in keyof DigestTimes]?: DigestTimes[Field] | undefined;
};

interface Reader {
  readonly userId: string;
  readonly projectId: string;
}

/** The settings of a person who has chosen nothing. */
const UNCHOSEN: DigestTimes = { frequency: 'off', weekday: 'monday', hour: 8, timezone: 'UTC' };

/**
 * Reads when a person gets the digest of a project. The frequency is `off` after the person has unsubscribed by a link.
 * @throws {AppError} `project_not_found`, `second_factor_required`
 */
export async function readDigest(
  db: Db,
  { userId, projectId }: Reader,
): Promise<DigestSettings & { readonly lastDate: string | null }> {
  const found = await db.row<{
    readonly lacks: boolean;
    readonly optedOut: boolean;
    readonly chosen: DigestTimes | null;
    readonly nextAt: Date | null;
    readonly lastDate: string | null;
  }>`
    select ${lacksSecondFactor(sql`o`, userId)} as lacks,
      ${hasEndedDigests(sql`m.user_id`, sql`p.id`)} as "optedOut",
      case when d.user_id is not null then jsonb_build_object('frequency', d.frequency, 'weekday', d.weekday,
        'hour', d.hour, 'timezone', d.timezone) end as chosen,
      d.next_at as "nextAt", d.last_date::text as "lastDate"
    from memberships m join organizations o on o.id = m.organization_id
    join projects p on p.organization_id = o.id
    left join result_digests d on d.user_id = m.user_id and d.project_id = p.id
    where m.user_id = ${userId} and p.id = ${projectId} and p.deleted_at is null
  `;
  const { chosen, optedOut, nextAt, lastDate } = admitted(found, 'project_not_found');
  const times = chosen ?? UNCHOSEN;
  if (optedOut) return { ...times, frequency: 'off', nextAt: null, lastDate };
  return { ...times, nextAt, lastDate };
}

/**
 * Changes when a person gets a digest. Switching the digest on ends an unsubscription and begins with later runs.
 * @throws {AppError} `project_not_found`, `second_factor_required`, `invalid_timezone`
 */
export async function patchDigest(tx: Db, reader: Reader, patch: DigestPatch): Promise<DigestSettings> {
  const before = await readDigest(tx, reader);
  const { userId, projectId } = reader;
  const frequency = patch.frequency ?? before.frequency;
  const weekday = patch.weekday ?? before.weekday;
  const hour = patch.hour ?? before.hour;
  const timezone = patch.timezone ?? before.timezone;
  checkTimeZone(timezone);
  const times = { frequency, weekday, hour, timezone };
  const nextAt = frequency === 'off' ? null : nextDigest(times, await databaseTime(tx), before.lastDate);
  await tx.run`
    insert into result_digests as d (user_id, project_id, frequency, weekday, hour, timezone, next_at, covered_until)
    values (${userId}, ${projectId}, ${frequency}, ${weekday}, ${hour}, ${timezone}, ${nextAt}, now())
    on conflict (user_id, project_id) do update set frequency = excluded.frequency, weekday = excluded.weekday,
      hour = excluded.hour, timezone = excluded.timezone, next_at = excluded.next_at,
      covered_until = case when ${before.nextAt === null}::boolean then excluded.covered_until
        else d.covered_until end
  `;
  if (frequency !== 'off') await wantAgain(tx, reader);
  return { ...times, nextAt };
}

/** Ends an unsubscription. After an unsubscription from all digests, the digests of other projects stay off. */
async function wantAgain(tx: Db, { userId, projectId }: Reader): Promise<void> {
  const others = await tx.rows<{ projectId: string }>`
    select project_id as "projectId" from result_digests
    where user_id = ${userId} and project_id <> ${projectId}
  `;
  const scopes = others.map((other) => digestScope(other.projectId));
  await narrowOptOut(tx, { userId, scopeId: ALL_DIGESTS }, scopes);
  await optIn(tx, { userId, scopeId: digestScope(projectId) });
}

/**
 * Returns the next time of a digest. If the clock skips the hour, the digest comes right after the gap; if the clock
 * shows the hour twice, the digest comes once.
 * @param lastDate the date of the last digest: no second digest follows on that date, even after a change of the zone
 */
export function nextDigest(times: DigestTimes, after: Date, lastDate: string | null): Date {
  const { frequency, weekday, hour, timezone } = times;
  const day = frequency === 'weekly' ? weekday.slice(0, 3) : '*';
  const schedule = parseStoredSchedule(`0 ${hour} * * ${day}`);
  for (let from = after; ;) {
    const next = nextOccurrence(schedule, timezone, from);
    if (lastDate === null || digestDate(times, next) > lastDate) return next;
    from = next;
  }
}

/** Returns the date of a digest. If the clock skips the last hour of a day, the digest of that day comes at midnight. */
export function digestDate({ hour, timezone }: Pick<DigestTimes, 'hour' | 'timezone'>, at: Date): string {
  return dateIn(timezone, hour === 23 ? new Date(at.getTime() - 60_000) : at);
}

/** Deletes the digests of a deleted project, or of a person who leaves an organization. */
export async function forgetDigests(
  tx: Db,
  of: { readonly projectId: string } | { readonly organizationId: string; readonly userId: string },
): Promise<void> {
  const whose =
    'projectId' in of
      ? sql`project_id = ${of.projectId}`
      : sql`user_id = ${of.userId}
          and project_id in (select id from projects where organization_id = ${of.organizationId})`;
  await tx.run`delete from result_digests where ${whose}`;
}

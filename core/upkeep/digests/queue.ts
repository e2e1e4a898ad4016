import { readAttention } from '#core/upkeep/attention/index.ts';
import { lacksSecondFactor } from '#core/accounts/organizations/index.ts';
import { enqueueMail, hasEndedDigests, type MailPart } from '#core/foundation/outbox/index.ts';
import { addWork, type RecordKind } from '#core/foundation/work/index.ts';
import { countUnread, listResults } from '#core/execution/results/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { digestPart, isNews, MOST_RESULTS } from './content.ts';
import { digestDate, nextDigest, type DigestSettings } from './settings.ts';

/** The most projects in one mail. If more are due, the next tick mails the person again. */
const MOST_PROJECTS = 20;

export async function queueResultDigests(db: Db): Promise<void> {
  await db.run`
    ${addWork(sql`select 'digest', user_id, '', min(next_at), '{}'::jsonb from result_digests
      where next_at <= now() group by user_id`)}
  `;
}

/** Writes a digest that is due: one mail to a person about all their projects that have news. */
export const digestKind: RecordKind = {
  batch: 4,
  waitsMs: [60_000, 600_000, 3_600_000],
  record: (tx, { key: userId }) => queueOne(tx, userId),
};

interface HeldDigest extends DigestSettings {
  readonly projectId: string;
  readonly nextAt: Date;
  readonly coveredUntil: Date;
  readonly lastDate: string | null;
  readonly organizationId: string;
  readonly projectName: string;
  /** True if the project's results may be mailed to the person. */
  readonly mayBeMailed: boolean;
  readonly now: Date;
}

/**
 * The longest that a run takes from its `finished_at` to its commit. Runs that ended within this time before a digest
 * are left to the next digest, so that no run falls between two digests.
 */
const SETTLING_MS = 60_000;

async function queueOne(tx: Db, userId: string): Promise<void> {
  const held = await holdDigests(tx, userId);
  const found: { readonly digest: HeldDigest; readonly date: string; readonly part: MailPart }[] = [];
  for (const digest of held) {
    const { coveredUntil, lastDate, now } = digest;
    const date = digestDate(digest, digest.nextAt);
    if (!digest.mayBeMailed || (lastDate !== null && date <= lastDate)) {
      await moveOn(tx, userId, digest, { coveredUntil, lastDate });
      continue;
    }
    const until = new Date(now.getTime() - SETTLING_MS);
    const part = await contentOf(tx, userId, digest, { until, projects: held.length });
    await moveOn(tx, userId, digest, { coveredUntil: until, lastDate: date });
    if (part !== undefined) found.push({ digest, date, part });
  }
  const [first] = found;
  if (first === undefined) return;
  const { organizationId, projectId } = first.digest;
  await enqueueMail(tx, {
    organizationId,
    projectId: found.length === 1 ? projectId : null,
    routineId: null,
    runId: null,
    kind: 'results_digest',
    userIds: [userId],
    content: { subject: '', lines: [], parts: found.map(({ part }) => part) },
    dedupeKey: `digest:${projectId}:${first.date}`,
  });
}

/** Locks the due digests of a person; none when another worker has locked them. */
async function holdDigests(tx: Db, userId: string): Promise<HeldDigest[]> {
  // Lock all digests of the person by one key: the previous release takes no work from the queue. If both releases
  // locked row by row, each would get some rows and send a separate mail.
  const isLocked = await tx.value<boolean>`
    select pg_try_advisory_xact_lock(hashtextextended(${`ras:digest:${userId}`}, 0))
  `;
  if (!isLocked) return [];
  return tx.rows<HeldDigest>`
    select d.project_id as "projectId", d.frequency, d.weekday, d.hour, d.timezone, d.next_at as "nextAt",
      d.covered_until as "coveredUntil", d.last_date::text as "lastDate", p.organization_id as "organizationId",
      p.name as "projectName", now() as now,
      p.deleted_at is null and u.email_verified and not ${lacksSecondFactor(sql`o`, sql`u.id`)}
        and exists (select from memberships m where m.user_id = u.id and m.organization_id = o.id)
        and not ${hasEndedDigests(sql`u.id`, sql`p.id`)} as "mayBeMailed"
    from result_digests d join users u on u.id = d.user_id join projects p on p.id = d.project_id
    join organizations o on o.id = p.organization_id
    where d.user_id = ${userId} and d.next_at <= now()
    order by d.next_at, p.name, p.id limit ${MOST_PROJECTS}
    for update of d skip locked
  `;
}

async function moveOn(
  tx: Db,
  userId: string,
  digest: HeldDigest,
  to: Pick<HeldDigest, 'coveredUntil' | 'lastDate'>,
): Promise<void> {
  const nextAt = nextDigest(digest, digest.now, to.lastDate);
  await tx.run`
    update result_digests set next_at = ${nextAt}, covered_until = greatest(covered_until, ${to.coveredUntil}),
      last_date = ${to.lastDate}::date
    where user_id = ${userId} and project_id = ${digest.projectId}
  `;
}

/** Writes the news of a project; undefined without news. */
async function contentOf(
  tx: Db,
  userId: string,
  { projectId, organizationId, projectName, coveredUntil: since, timezone }: HeldDigest,
  { until, projects }: { readonly until: Date; readonly projects: number },
): Promise<MailPart | undefined> {
  const reader = { projectId, readerId: userId };
  const within = { since, until };
  const unread = await countUnread(tx, reader, within);
  const attention = await readAttention(tx, { projectId, organizationId }, since);
  if (!isNews({ unread, attention, since })) return undefined;
  const page = { limit: MOST_RESULTS, after: undefined };
  const { results } = await listResults(tx, reader, { ...within, unread: true, worthReading: true, page });
  return digestPart({ projectId, projectName, timezone, unread, results, attention, projects });
}

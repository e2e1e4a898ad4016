import { readAttention } from '#core/upkeep/attention/index.ts';
import type { Core } from '#core/core.ts';
import { lacksSecondFactor } from '#core/accounts/organizations/index.ts';
import { enqueueMail, hasEndedDigests, type MailPart } from '#core/foundation/outbox/index.ts';
import { countUnread, listResults } from '#core/execution/results/index.ts';
import { eachApart, sql, transaction, type Db } from '#lib/database/index.ts';
import { dateIn } from '#lib/schedule/index.ts';
import { digestPart, isNews, MOST_RESULTS } from './content.ts';
import { nextDigest, type DigestSettings } from './settings.ts';

/** People whose digests one tick queues, those longest due first; the next tick goes on. */
const MOST = 500;
/** Projects of one mail. The next tick mails a person who has more due at once again. */
const MOST_PROJECTS = 20;

/**
 * Queues the digests that are due: one mail a person, about all their projects that have news. Each person has a
 * transaction of their own, which locks their digests from the look at the news to the mail, so that other workers skip
 * them.
 * @returns the number of mails
 */
export async function queueResultDigests(
  { database, log }: Pick<Core, 'database' | 'log'>,
  signal: AbortSignal,
): Promise<number> {
  const due = await database.rows<{ readonly userId: string }>`
    select user_id as "userId" from result_digests
    where next_at <= now() group by user_id order by min(next_at) limit ${MOST}
  `;
  let queued = 0;
  await eachApart(
    due,
    async ({ userId }) => {
      if (await transaction(database, (tx) => queueOne(tx, userId))) queued += 1;
    },
    { signal, failed: (err, of) => log.error({ err, ...of }, 'digests were not queued') },
  );
  return queued;
}

interface DueDigest {
  readonly userId: string;
  readonly projectId: string;
}

interface HeldDigest extends DigestSettings {
  readonly projectId: string;
  readonly nextAt: Date;
  readonly coveredUntil: Date;
  readonly lastDate: string | null;
  readonly organizationId: string;
  readonly projectName: string;
  /** False where the project's results may not be mailed to the person. */
  readonly mayBeMailed: boolean;
  readonly now: Date;
}

/**
 * The longest that a run takes from its `finished_at` to its commit. Runs that ended within this time before a digest
 * are left to the next one, so that no run falls between two digests.
 */
const SETTLING_MS = 60_000;

async function queueOne(tx: Db, userId: string): Promise<boolean> {
  const held = await holdDigests(tx, userId);
  const found: { readonly digest: HeldDigest; readonly date: string; readonly part: MailPart }[] = [];
  for (const digest of held) {
    const { projectId, coveredUntil, lastDate, now } = digest;
    const date = dateIn(digest.timezone, digest.nextAt);
    if (!digest.mayBeMailed || (lastDate !== null && date <= lastDate)) {
      await moveOn(tx, { userId, projectId }, { digest, coveredUntil, lastDate });
      continue;
    }
    const until = new Date(now.getTime() - SETTLING_MS);
    const part = await contentOf(tx, { userId, digest, until, projects: held.length });
    await moveOn(tx, { userId, projectId }, { digest, coveredUntil: until, lastDate: date });
    if (part !== undefined) found.push({ digest, date, part });
  }
  const [first] = found;
  if (first === undefined) return false;
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
  return true;
}

/** Locks the due digests of a person; none where another worker has them. */
async function holdDigests(tx: Db, userId: string): Promise<HeldDigest[]> {
  // Locked row by row, two workers would each get some of them and send two mails.
  const lock = await tx.row<{
    taken: boolean;
  }>`select pg_try_advisory_xact_lock(hashtextextended(${`ras:digest:${userId}`}, 0)) as taken`;
  if (lock?.taken !== true) return [];
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
  { userId, projectId }: DueDigest,
  to: { digest: HeldDigest; coveredUntil: Date; lastDate: string | null },
): Promise<void> {
  const nextAt = nextDigest(to.digest, to.digest.now, to.lastDate);
  await tx.run`
    update result_digests set next_at = ${nextAt}, covered_until = greatest(covered_until, ${to.coveredUntil}),
      last_date = ${to.lastDate}::date
    where user_id = ${userId} and project_id = ${projectId}
  `;
}

/** Writes what is new in a project; undefined when nothing is. */
async function contentOf(
  tx: Db,
  {
    userId,
    digest,
    until,
    projects,
  }: {
    readonly userId: string;
    readonly digest: HeldDigest;
    readonly until: Date;
    readonly projects: number;
  },
): Promise<MailPart | undefined> {
  const { projectId, organizationId, projectName, coveredUntil: since, timezone } = digest;
  const reader = { projectId, readerId: userId };
  const within = { since, until };
  const unread = await countUnread(tx, reader, within);
  const attention = await readAttention(tx, { projectId, organizationId }, since);
  if (!isNews({ unread, attention, since })) return undefined;
  const page = { limit: MOST_RESULTS, after: undefined };
  const { results } = await listResults(tx, reader, {
    ...within,
    unread: true,
    worthReading: true,
    page,
  });
  return digestPart({ projectId, projectName, timezone, unread, results, attention, projects });
}

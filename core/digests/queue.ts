import { readAttention } from '#core/attention/index.ts';
import type { Core } from '#core/core.ts';
import { lacksSecondFactor } from '#core/organizations/index.ts';
import { digestScope, enqueueMail, hasOptedOut } from '#core/outbox/index.ts';
import { countUnread, listResults } from '#core/results/index.ts';
import { eachApart, execute, row, rows, sql, transaction, type Db } from '#lib/database/index.ts';
import { dateIn } from '#lib/schedule/index.ts';
import { digestMail, isNews, MOST_RESULTS } from './content.ts';
import { nextDigest, type DigestSettings } from './settings.ts';

/** Digests that are queued in one tick, the longest due first; the next tick goes on. */
const MOST = 500;

/**
 * Queues the digests that are due, a mail for each person and project that has news. Each has a transaction of its own, which
 * holds its row from the look at what is new to the mail, so that another worker passes it over.
 * @returns the number of mails
 */
export async function queueResultDigests(
  { database, log }: Pick<Core, 'database' | 'log'>,
  signal: AbortSignal,
): Promise<number> {
  const due = await rows<DueDigest>(
    database,
    sql`
      select user_id as "userId", project_id as "projectId" from result_digests
      where next_at <= now() order by next_at limit ${MOST}
    `,
  );
  let queued = 0;
  await eachApart(
    due,
    async (digest) => {
      if (await transaction(database, (tx) => queueOne(tx, digest))) queued += 1;
    },
    { signal, failed: (err, of) => log.error({ err, ...of }, 'a digest was not queued') },
  );
  return queued;
}

interface DueDigest {
  readonly userId: string;
  readonly projectId: string;
}

interface HeldDigest extends DigestSettings {
  readonly nextAt: Date;
  readonly coveredUntil: Date;
  readonly lastDate: string | null;
  readonly organizationId: string;
  readonly projectName: string;
  /** False while the person may not be mailed what the project's runs have brought. */
  readonly mayBeMailed: boolean;
  readonly now: Date;
}

/**
 * Time that an end of a run takes at most from its `finished_at` to its commit: what ends later than that before a digest is
 * left for the next one, so that none is in neither.
 */
const SETTLING_MS = 60_000;

async function queueOne(tx: Db, { userId, projectId }: DueDigest): Promise<boolean> {
  const digest = await holdDigest(tx, { userId, projectId });
  if (digest === undefined) return false;
  const { coveredUntil, lastDate, now } = digest;
  const date = dateIn(digest.timezone, digest.nextAt);
  if (!digest.mayBeMailed || (lastDate !== null && date <= lastDate)) {
    await moveOn(tx, { userId, projectId }, { digest, coveredUntil, lastDate });
    return false;
  }
  const until = new Date(now.getTime() - SETTLING_MS);
  const mail = await contentOf(tx, { userId, projectId }, digest, until);
  await moveOn(tx, { userId, projectId }, { digest, coveredUntil: until, lastDate: date });
  if (mail === undefined) return false;
  await enqueueMail(tx, {
    organizationId: digest.organizationId,
    projectId,
    routineId: null,
    runId: null,
    kind: 'results_digest',
    userIds: [userId],
    content: mail,
    dedupeKey: `digest:${projectId}:${date}`,
  });
  return true;
}

/** Locks a digest that is due; undefined where another worker has it. */
function holdDigest(tx: Db, { userId, projectId }: DueDigest): Promise<HeldDigest | undefined> {
  return row<HeldDigest>(
    tx,
    sql`
      select d.frequency, d.weekday, d.hour, d.timezone, d.next_at as "nextAt", d.covered_until as "coveredUntil",
        d.last_date::text as "lastDate", p.organization_id as "organizationId", p.name as "projectName",
        now() as now, p.deleted_at is null and u.email_verified and not ${lacksSecondFactor(sql`o`, sql`u.id`)}
          and exists (select from memberships m where m.user_id = u.id and m.organization_id = o.id)
          and not ${hasOptedOut(sql`u.id`, sql`${digestScope(projectId)}`)} as "mayBeMailed"
      from result_digests d join users u on u.id = d.user_id join projects p on p.id = d.project_id
      join organizations o on o.id = p.organization_id
      where d.user_id = ${userId} and d.project_id = ${projectId} and d.next_at <= now()
      for update of d skip locked
    `,
  );
}

async function moveOn(
  tx: Db,
  { userId, projectId }: DueDigest,
  to: { digest: HeldDigest; coveredUntil: Date; lastDate: string | null },
): Promise<void> {
  const nextAt = nextDigest(to.digest, to.digest.now, to.lastDate);
  await execute(
    tx,
    sql`
      update result_digests set next_at = ${nextAt}, covered_until = greatest(covered_until, ${to.coveredUntil}),
        last_date = ${to.lastDate}::date
      where user_id = ${userId} and project_id = ${projectId}
    `,
  );
}

/** Writes the mail; undefined where nothing is new. */
async function contentOf(
  tx: Db,
  { userId, projectId }: DueDigest,
  digest: HeldDigest,
  until: Date,
) {
  const { organizationId, projectName, coveredUntil: since, timezone } = digest;
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
  return digestMail({ projectId, projectName, timezone, unread, results, attention });
}

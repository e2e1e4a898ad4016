import { mergeHeld, projectsWithHeld, type HeldCount } from '#core/foundation/outbox/index.ts';
import { addWork, RECORD_PACE, type RecordKind } from '#core/foundation/work/index.ts';
import { AT_ONCE, sql, type Db } from '#lib/database/index.ts';
import { readSubscriptions } from './subscription.ts';
import { MAIL_INTERVAL, mailProject } from './tell.ts';

/** Queues a summary for each project whose oldest held event has waited for an hour. */
export async function queueSummaries(db: Db): Promise<void> {
  await db.run`
    with due as (
      ${projectsWithHeld(MAIL_INTERVAL)}
    )
    ${addWork(sql`select 'summary', project_id, organization_id, ${AT_ONCE}, '{}' from due`)}
  `;
}

/** Mails summaries of events beyond the hourly limit: one model that is down can fail runs of a hundred routines. */
export const summaryKind: RecordKind = {
  ...RECORD_PACE,
  record: (tx, { key: projectId }) => mailSummary(tx, projectId),
};

async function mailSummary(tx: Db, projectId: string): Promise<void> {
  const held = await mergeHeld(tx, projectId);
  const subscriptions = await readSubscriptions(tx, [...new Set(held.map(({ routineId }) => routineId))]);
  const mailed = subscriptions.filter(({ mail }) => mail !== null && mail.on.length > 0);
  for (const subscribed of Map.groupBy(mailed, ({ mail }) => JSON.stringify(mail?.to)).values()) {
    const [first] = subscribed;
    if (first?.mail == null) continue;
    const { organizationId, projectName, routineName, mail } = first;
    const ids = new Set(subscribed.map(({ routineId }) => routineId));
    const counts = inWords(held.filter(({ routineId }) => ids.has(routineId)));
    const subject = ids.size === 1 ? `The routine "${routineName}"` : `${ids.size} routines`;
    await mailProject(tx, {
      organizationId,
      projectId,
      projectName,
      to: mail.to,
      kind: 'digest',
      heading: 'In the last hour',
      lines: [
        `${subject} had news that was not mailed, as there is at most one mail an hour about a routine, and ten about a project: ${counts}.`,
      ],
      page: 'runs',
    });
  }
}

function inWords(held: readonly HeldCount[]): string {
  const counts = new Map<string, number>();
  for (const { kind, count } of held) counts.set(kind, (counts.get(kind) ?? 0) + count);
  const inOrder = [...counts].toSorted(([, a], [, b]) => b - a);
  return inOrder.map(([kind, count]) => `${count} × ${kind}`).join(', ');
}

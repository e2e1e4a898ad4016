import { findRecipients, type MailSettings } from '#core/accounts/settings/index.ts';
import { dataInWords, isOnlyData } from '#core/authoring/outcomes/index.ts';
import { enqueueChats } from '#core/delivery/chats/index.ts';
import { listResults, type Result } from '#core/execution/results/index.ts';
import { enqueueMail, recordUnaddressed, type MailContent } from '#core/foundation/outbox/index.ts';
import { throttle, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { RECORD_PACE, type RecordKind } from '#core/foundation/work/index.ts';
import type { Db } from '#lib/database/index.ts';
import { plainLines, resultEntry } from './content.ts';

/** Queues the result of a run for the people and chats of its routine. */
export const resultKind: RecordKind = { ...RECORD_PACE, record: (tx, { key: runId }) => sendResult(tx, runId) };

/** A run that has ended, and who gets the results of its routine. */
interface Told {
  readonly organizationId: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly routineId: string;
  readonly timezone: string;
  readonly when: 'each' | 'changed';
  readonly mail: MailSettings['to'] | null;
  readonly chats: readonly string[];
  readonly finishedAt: Date;
  /** Text of the result; null if the result is only data. */
  readonly text: string | null;
  readonly data: unknown;
  /** True when a question or held call of this run, not of an earlier one, waits for a person. */
  readonly waits: boolean;
}

async function sendResult(tx: Db, runId: string): Promise<void> {
  const told = await readTold(tx, runId);
  if (told === undefined) return;
  const { organizationId, projectId, routineId, finishedAt } = told;
  const { results } = await listResults(
    tx,
    { projectId, readerId: '' },
    {
      since: finishedAt,
      until: new Date(finishedAt.getTime() + 1),
      unread: undefined,
      worthReading: undefined,
      page: { limit: ENDED_AT_ONCE, after: undefined },
    },
  );
  const result = results.find(({ id }) => id === runId);
  if (result === undefined) return;
  const isNews = told.when === 'each' || result.kind !== 'unchanged';
  const about = { organizationId, projectId, routineId, runId };
  if (told.chats.length > 0 && (isNews || told.waits)) await enqueueChats(tx, { ...about, chatIds: told.chats });
  // Leave out failures, waiting questions and held calls, because another setting mails them.
  if (told.mail !== null && isNews && result.kind !== 'failed')
    await mailResult(tx, { ...told, ...about, to: told.mail, result });
}

/** The most runs of a project that may end in the same millisecond. */
const ENDED_AT_ONCE = 500;

/** Number of characters of a result that are read for a mail. */
const READ = 20_000;

function readTold(tx: Db, runId: string): Promise<Told | undefined> {
  return tx.row<Told>`
    select p.organization_id as "organizationId", p.id as "projectId", p.name as "projectName", r.id as "routineId",
      r.timezone, r.results_when as "when", r.results_mail as mail, r.results_chats as chats,
      run.finished_at as "finishedAt", case when ${isOnlyData} then null else left(run.result, ${READ}) end as text,
      case when ${isOnlyData} then run.data end as data,
      exists (select from questions q where q.run_id = run.id and q.project_id = run.project_id and q.state = 'open')
      or exists (select from actions a where a.run_id = run.id and a.project_id = run.project_id and a.state = 'open')
      as waits
    from runs run join routines r on r.id = run.routine_id and r.project_id = run.project_id
    join projects p on p.id = run.project_id
    where run.id = ${runId} and run.content_erased_at is null and r.state in ('active', 'paused')
      and p.deleted_at is null
  `;
}

/** The most mails with results of one routine in an hour. The digest has all further results. */
const MAILS: ThrottleRule = { name: 'result-mail', limit: 10, windowSeconds: 3_600 };

async function mailResult(
  tx: Db,
  mail: Told & { readonly runId: string; readonly to: MailSettings['to']; readonly result: Result },
): Promise<void> {
  const { organizationId, projectId, routineId, runId } = mail;
  const subject = { organizationId, projectId, routineId, runId, kind: 'result' as const };
  const userIds = await findRecipients(tx, organizationId, mail.to);
  if (userIds.length === 0) return recordUnaddressed(tx, subject);
  if ((await throttle(tx, MAILS, routineId)) !== undefined) {
    return recordUnaddressed(tx, subject, 'ten results of this routine were mailed in the last hour');
  }
  await enqueueMail(tx, { ...subject, userIds, content: contentOf(mail), dedupeKey: `result:${runId}` });
}

const LINES_OF_MAIL = 80;

function contentOf({
  projectId,
  projectName,
  timezone,
  text,
  data,
  result,
}: Told & { readonly result: Result }): MailContent {
  const entry = resultEntry(result, 0, { projectId, timezone });
  const told = plainLines(text ?? dataInWords(data).join('\n'));
  const summary = result.outcomeSummary === null ? [] : plainLines(result.outcomeSummary);
  const lines = [...summary, ...told.slice(0, LINES_OF_MAIL), ...(told.length > LINES_OF_MAIL ? ['…'] : [])];
  // Leave out added lines that the text already shows.
  const differences = entry.differences.filter(({ sign, text: line }) => sign !== '+' || !lines.includes(line));
  return {
    subject: `${entry.label}: ${entry.title}`,
    lines: [],
    sections: [{ heading: `A result in the project "${projectName}"`, entries: [{ ...entry, lines, differences }] }],
    path: entry.path,
    button: 'Open the result',
  };
}

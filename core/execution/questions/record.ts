import { createHash } from 'node:crypto';
import type { Core } from '#core/core.ts';
import { definitionForm } from '#core/authoring/definition/index.ts';
import { notifyAsked } from '#core/delivery/notifications/index.ts';
import { enqueueQuestion } from '#core/delivery/webhooks/index.ts';
import type { asking } from '#core/integrations/tools/index.ts';
import type { Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';

/** The most open questions of a routine, because a person who finds more answers none of them. */
export const MOST_OPEN = 5;

/** Result of asking a question. */
export type AskVerdict =
  | { readonly kind: 'asked' | 'merged'; readonly id: string; readonly defaultAnswer: string | null }
  | { readonly kind: 'answered'; readonly answer: string; readonly fenced: boolean; readonly at: Date }
  | { readonly kind: 'too_many' };

/** Returns a hash that does not depend on case, white space and the punctuation at the end. */
function digestOf(question: string): string {
  const words = question.normalize('NFC').toLowerCase().replaceAll(/\s+/g, ' ');
  return createHash('sha256')
    .update(words.replace(/[\s?!.…]{1,20}$/u, ''))
    .digest('base64url');
}

interface AskingRun {
  readonly runId: string;
  readonly routineId: string;
  readonly projectId: string;
}

/**
 * Records a question in the transaction that records its step, with the run's row locked. An open question is counted
 * once more, an answered question returns its answer, and a new question is reported to the people and the webhook of
 * the routine.
 */
export async function recordAsked(
  core: Pick<Core, 'work'>,
  tx: Db,
  run: AskingRun,
  asked: asking.AskedQuestion,
): Promise<AskVerdict> {
  const routine = await lockRoutine(tx, run);
  const digest = digestOf(asked.question);
  const before = await expireAndFind(tx, run, digest);
  if (before?.state === 'answered' && before.answer !== null) {
    return { kind: 'answered', answer: before.answer, fenced: before.fenced, at: before.decidedAt };
  }
  if (before !== undefined) {
    await tx.run`
      update questions set times = times + 1, last_run_id = ${run.runId}, last_asked_at = now()
      where id = ${before.id} and project_id = ${run.projectId}
    `;
    return { kind: 'merged', id: before.id, defaultAnswer: before.defaultAnswer };
  }
  if ((await countOpen(tx, run)) >= MOST_OPEN) return { kind: 'too_many' };
  const opened = await insertQuestion(tx, run, { ...asked, digest, hours: routine.hours });
  const told = { ...run, ...asked, ...opened, answer: null };
  await enqueueQuestion(core, tx, { ...told, ...routine, type: 'question.asked', at: opened.createdAt });
  await notifyAsked(tx, run);
  return { kind: 'asked', id: opened.id, defaultAnswer: asked.defaultAnswer };
}

/** Locks the routine, so that its questions change one at a time. Every statement locks a run before its routine. */
async function lockRoutine(tx: Db, { runId, projectId }: AskingRun) {
  const found = await tx.row<{ webhookUrl: string | null; webhookFailedAt: Date | null; definition: unknown }>`
    select r.webhook_url as "webhookUrl", r.webhook_failed_at as "webhookFailedAt", v.definition
    from runs join routines r on r.id = runs.routine_id and r.project_id = runs.project_id
    join routine_versions v on v.routine_id = r.id and v.revision = runs.routine_revision
    where runs.id = ${runId} and runs.project_id = ${projectId} for no key update of r
  `;
  if (found === undefined) throw new Error(`run ${runId} has no routine or no version`);
  const { webhookUrl, webhookFailedAt, definition } = found;
  return { webhookUrl, webhookFailedAt, hours: definitionForm.read(definition).value.decisionHours };
}

/** The same question, asked before. */
interface Before {
  readonly id: string;
  readonly state: 'open' | 'answered';
  readonly answer: string | null;
  readonly fenced: boolean;
  readonly defaultAnswer: string | null;
  readonly decidedAt: Date;
}

async function expireAndFind(tx: Db, { routineId, projectId }: AskingRun, digest: string): Promise<Before | undefined> {
  await tx.run`
    update questions set state = 'expired', decided_at = expires_at
    where routine_id = ${routineId} and project_id = ${projectId} and state = 'open' and expires_at <= now()
  `;
  return tx.row<Before>`
    select id, state, answer, fenced, default_answer as "defaultAnswer", decided_at as "decidedAt" from questions
    where routine_id = ${routineId} and project_id = ${projectId} and digest = ${digest}
      and state in ('open', 'answered')
    order by id desc limit 1
  `;
}

function countOpen(tx: Db, { routineId, projectId }: AskingRun): Promise<number> {
  return tx.value<number>`
    select count(*) as count from questions
    where routine_id = ${routineId} and project_id = ${projectId} and state = 'open'
  `;
}

async function insertQuestion(
  tx: Db,
  { runId, routineId, projectId }: AskingRun,
  asked: asking.AskedQuestion & { readonly digest: string; readonly hours: number },
): Promise<{ id: string; createdAt: Date; expiresAt: Date }> {
  const { question, choices, defaultAnswer, digest, hours } = asked;
  const opened = await tx.row<{ id: string; createdAt: Date; expiresAt: Date }>`
    insert into questions (id, project_id, routine_id, run_id, last_run_id, question, digest, choices, default_answer,
      expires_at)
    values (${newId('question')}, ${projectId}, ${routineId}, ${runId}, ${runId}, ${question}, ${digest},
      ${choices === null ? null : JSON.stringify(choices)}::jsonb, ${defaultAnswer},
      now() + ${hours}::integer * interval '1 hour')
    returning id, created_at as "createdAt", expires_at as "expiresAt"
  `;
  if (opened === undefined) throw new Error('an insert returns its row');
  return opened;
}

import type { Core } from '#core/core.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { enqueueQuestion } from '#core/delivery/webhooks/index.ts';
import { starts } from '#core/execution/runs/index.ts';
import { transaction, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { QUESTION_STATES, readQuestion, type Question } from './questions.ts';

export interface GivenAnswer extends Pick<starts.ManualRun, 'projectId' | 'organizationId' | 'plan' | 'startedBy'> {
  readonly id: string;
  readonly answer: string;
  /** True when the caller may not write routines: the answer is then data, not an instruction. */
  readonly fenced: boolean;
  /** The id of the run that the answer starts, if the routine asks for one. */
  readonly runId: string;
}

/**
 * Answers a question, once; a repeated answer returns the same result. A routine with `afterAnswer: run` then gets a
 * manual run. If that run is refused, the answer still counts, and the result names the reason.
 * @throws {AppError} `question_not_found`, `question_closed`
 */
export async function answerQuestion(
  deps: starts.StartDeps & Pick<Core, 'work'>,
  by: Actor,
  given: GivenAnswer,
): Promise<Question> {
  const { id, projectId } = given;
  let started: starts.EnqueuedRun | undefined;
  const question = await transaction(deps.database, async (tx) => {
    const answered = await recordAnswer(tx, by, given);
    if (answered === undefined) return answeredBefore(await readQuestion(tx, projectId, id), given.answer);
    const { routineId, startsRun } = answered;
    if (startsRun) {
      const run = await enqueueAfter(deps, tx, { ...given, routineId });
      if (typeof run === 'string') {
        await tx.run`update questions set run_refused = ${run} where id = ${id} and project_id = ${projectId}`;
      } else {
        started = run;
        await tx.run`update questions set answer_run_id = ${run.run.id} where id = ${id} and project_id = ${projectId}`;
      }
    }
    await recordProjectAudit(tx, { by, projectId, action: 'question.answered', targetId: id, details: { routineId } });
    const question = await readQuestion(tx, projectId, id);
    const at = question.decidedAt ?? question.lastAskedAt;
    const told = { ...question, question: question.question ?? '', runId: question.lastRunId };
    await enqueueQuestion(deps, tx, { ...told, ...answered, type: 'question.answered', at });
    return question;
  });
  if (started !== undefined) await starts.startAdmitted(deps, started);
  return question;
}

interface Answered {
  readonly routineId: string;
  readonly startsRun: boolean;
  readonly webhookUrl: string | null;
  readonly webhookFailedAt: Date | null;
}

/** @returns undefined when the question is missing or not open */
function recordAnswer(
  tx: Db,
  by: Actor,
  { id, projectId, answer, fenced }: GivenAnswer,
): Promise<Answered | undefined> {
  return tx.row<Answered>`
    update questions q set state = 'answered', answer = ${answer}, fenced = ${fenced}, answered_by = ${by.id},
      decided_at = now()
    from routines r
    where q.id = ${id} and q.project_id = ${projectId} and q.state = 'open' and q.expires_at > now()
      and r.id = q.routine_id and r.project_id = q.project_id and r.state <> 'archived'
    returning q.routine_id as "routineId", r.webhook_url as "webhookUrl", r.webhook_failed_at as "webhookFailedAt",
      coalesce(r.definition ->> 'afterAnswer' = 'run', false) as "startsRun"
  `;
}

function answeredBefore(question: Question, answer: string): Question {
  if (question.answer === answer) return question;
  throw new AppError('question_closed', `The question is ${question.state}: ${QUESTION_STATES[question.state]}.`);
}

/** Records the run that gets the answer. @returns the error code if the run is refused */
async function enqueueAfter(
  deps: starts.StartDeps,
  tx: Db,
  { runId: id, projectId, organizationId, plan, routineId, startedBy }: GivenAnswer & { readonly routineId: string },
): Promise<starts.EnqueuedRun | string> {
  try {
    return await starts.enqueueManualRun(deps, tx, { id, projectId, organizationId, plan, routineId, startedBy });
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

import { authorJson, type Author } from '#core/foundation/audit/index.ts';
import { empty, sql, type Db, type Sql } from '#lib/database/index.ts';
import { afterCursor, type Page } from '#lib/paging.ts';

/** States of a question with their meanings. */
export const QUESTION_STATES = {
  open: 'it can be answered',
  answered: 'a person or a program has answered it',
  expired: 'no answer came in time, so its default holds',
  closed: 'the routine was archived, or the content of the question was erased',
} as const;
export type QuestionState = keyof typeof QUESTION_STATES;

/** A question that a run has asked the people of its routine. */
export interface Question {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineName: string;
  /** The run that asked the question first. */
  readonly runId: string;
  /** The last run that asked the same question, and the number of runs that did. */
  readonly lastRunId: string;
  readonly times: number;
  /** Text of the question; null once erased. The choices, the default and the answer are then null too. */
  readonly question: string | null;
  /** The permitted answers; null if any text is permitted. */
  readonly choices: readonly string[] | null;
  readonly defaultAnswer: string | null;
  readonly state: QuestionState;
  readonly answer: string | null;
  /** True for the answer of a caller who may not write routines. */
  readonly fenced: boolean;
  readonly answeredBy: Author | null;
  /** Time at which the question was answered, expired or was closed. */
  readonly decidedAt: Date | null;
  readonly answerRunId: string | null;
  /** The error code that kept the answer from starting a run. */
  readonly runRefused: string | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly lastAskedAt: Date;
}

/** SQL expression: the state of a row of `questions`. An open question counts as expired once its time is over. */
const questionState = sql`case when state = 'open' and expires_at <= now() then 'expired' else state end`;

const columns = sql`
  id, project_id as "projectId", routine_id as "routineId",
  (select name from routines r where r.id = routine_id and r.project_id = questions.project_id) as "routineName",
  run_id as "runId", last_run_id as "lastRunId", times, question, choices, default_answer as "defaultAnswer",
  ${questionState} as state, answer, fenced,
  ${authorJson({ createdBy: sql`answered_by`, projectId: sql`questions.project_id` })} as "answeredBy",
  coalesce(decided_at, case when expires_at <= now() then expires_at end) as "decidedAt",
  answer_run_id as "answerRunId", run_refused as "runRefused", expires_at as "expiresAt", created_at as "createdAt",
  last_asked_at as "lastAskedAt"
`;

export interface QuestionFilter {
  readonly state?: QuestionState | undefined;
  readonly routineId?: string | undefined;
  /** Questions that this run asked, first or last. */
  readonly runId?: string | undefined;
  readonly page: Page;
}

/** Lists questions, newest first: one more than the page has room for. */
export function listQuestions(
  db: Db,
  projectId: string,
  { state, routineId, runId, page }: QuestionFilter,
): Promise<Question[]> {
  return db.rows<Question>`
    select ${columns} from questions
    where project_id = ${projectId} ${state === undefined ? empty : sql`and ${questionState} = ${state}`}
      ${routineId === undefined ? empty : sql`and routine_id = ${routineId}`}
      ${runId === undefined ? empty : sql`and (run_id = ${runId} or last_run_id = ${runId})`} ${afterCursor(page)}
    order by id desc limit ${page.limit + 1}
  `;
}

/** @throws {AppError} `question_not_found` */
export function readQuestion(db: Db, projectId: string, id: string): Promise<Question> {
  return db.rowOr<Question>('question_not_found')`
    select ${columns} from questions where id = ${id} and project_id = ${projectId}
  `;
}

export async function closeQuestions(tx: Db, routineIds: readonly string[]): Promise<void> {
  await tx.run`
    update questions set state = 'closed', decided_at = now()
    where routine_id = any(${routineIds}) and state = 'open'
  `;
}

/** Erases the questions that these runs asked last, and closes the open questions among them. */
export async function eraseQuestions(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`
    update questions set question = null, digest = null, choices = null, default_answer = null, answer = null,
      state = case when state = 'open' then 'closed' else state end, decided_at = coalesce(decided_at, now())
    where last_run_id = any(${runIds})
  `;
}

export async function deleteQuestions(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`delete from questions where last_run_id = any(${runIds})`;
}

/** Number of the newest questions in the prompt of a run. */
const MOST_TOLD = 20;

/** Selects the questions of a routine as one JSON value, newest first. */
export function toldQuestionsJson(run: { readonly projectId: Sql; readonly routineId: Sql }): Sql {
  return sql`(
    select coalesce(json_agg(json_build_object('question', question, 'askedAt', created_at, 'state', ${questionState},
      'answer', answer, 'fenced', fenced, 'defaultAnswer', default_answer) order by id desc), '[]')
    from (
      select * from questions
      where routine_id = ${run.routineId} and project_id = ${run.projectId} and question is not null
        and state <> 'closed'
      order by id desc limit ${MOST_TOLD}
    ) latest
  )`;
}

import { MAX_CARRIED_LENGTH } from '#core/authoring/definition/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { fence } from './fence.ts';

/** A question of an earlier run with its state and answer. Times are text. */
export interface ToldQuestion {
  readonly question: string;
  readonly askedAt: string;
  readonly state: 'open' | 'answered' | 'expired';
  readonly answer: string | null;
  /** True for the answer of a caller who may not write routines: it is then material, not an instruction. */
  readonly fenced: boolean;
  readonly defaultAnswer: string | null;
}

/** Number of the newest questions in the prompt of a run. */
const MOST_TOLD = 20;

/** SQL expression: the state of a row of `questions`. An open question expires by time alone. */
export const questionState = sql`case when state = 'open' and expires_at <= now() then 'expired' else state end`;

/** Selects the questions of a routine as one JSON value, newest first, as part of a statement that reads more. */
export function toldQuestionsJson(run: { projectId: Sql; routineId: Sql }): Sql {
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

export function tellsQuestions(definition: Sql): Sql {
  return sql`(${definition} ->> 'mayAsk' = 'true' or position('answers' in ${definition} ->> 'instructions') > 0)`;
}

/**
 * Writes the questions of earlier runs and their answers as text. A model wrote questions and defaults, perhaps copied
 * from a page, so they are fenced; an answer is an instruction if its author may write instructions.
 */
export function answersText(told: readonly ToldQuestion[]): string {
  const fitting = newestThatFit(told);
  if (fitting.length === 0) return '';
  const asked = fitting.map(({ question, askedAt, defaultAnswer }, at) => {
    const holds = defaultAnswer === null ? '' : `\n   Default: ${defaultAnswer}`;
    return `${at + 1}. Asked on ${askedAt.slice(0, 10)}: ${question}${holds}`;
  });
  return [
    fence('What earlier runs of this routine have asked its people', asked.join('\n')),
    ...fitting.map((each, at) => answerLine(each, at + 1)),
  ].join('\n');
}

function answerLine({ state, answer, fenced, defaultAnswer }: ToldQuestion, number: number): string {
  if (state === 'answered' && answer !== null) {
    if (!fenced) return `Question ${number} was answered: ${answer}`;
    return fence(`The answer to question ${number}, of someone who may not change the instructions,`, answer);
  }
  const meanwhile = defaultAnswer === null ? 'go on without an answer' : 'its default holds';
  return state === 'open'
    ? `Question ${number} is open: do not ask it again; until it is answered, ${meanwhile}.`
    : `Question ${number} was not answered in time: ${meanwhile}.`;
}

function newestThatFit(told: readonly ToldQuestion[]): readonly ToldQuestion[] {
  let room = MAX_CARRIED_LENGTH / 2;
  return told.filter(({ question, answer, defaultAnswer }, at) => {
    const length = question.length + (answer ?? '').length + (defaultAnswer ?? '').length + LINE_LENGTH;
    // The longest question with the longest answer is a little longer than the room.
    const fits = at === 0 || length <= room;
    if (fits) room -= length;
    return fits;
  });
}

/** Characters around a question and its answer, including the marks of a fence; rounded up. */
const LINE_LENGTH = 300;

/** Writes the earlier questions and answers for a run that may ask. */
export function wordsOnAnswers(told: readonly ToldQuestion[], inInstructions: boolean): string {
  if (told.length === 0) return '';
  return inInstructions ? 'Earlier questions: they stand in the instructions, with their answers.' : answersText(told);
}

import { MAX_CARRIED_LENGTH } from '#core/authoring/definition/index.ts';
import { fence } from './fence.ts';

/** A question of an earlier run with its state and answer. Times are text. */
export interface ToldQuestion {
  readonly question: string;
  readonly askedAt: string;
  readonly state: 'open' | 'answered' | 'expired';
  readonly answer: string | null;
  /** True for the answer of a caller who may not write routines: the answer is then data, not an instruction. */
  readonly fenced: boolean;
  readonly defaultAnswer: string | null;
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
    // Always include the newest question: at its longest, with the longest answer, it slightly exceeds the room.
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

export { answerQuestion } from './answer.ts';
export {
  closeQuestions,
  deleteQuestions,
  eraseQuestions,
  listQuestions,
  QUESTION_STATES,
  questionState,
  readQuestion,
  type Question,
  type QuestionState,
} from './questions.ts';
export { MOST_OPEN, recordAsked, type AskVerdict } from './record.ts';

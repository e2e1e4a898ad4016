export { answerQuestion } from './answer.ts';
export {
  closeQuestions,
  deleteQuestions,
  eraseQuestions,
  listQuestions,
  QUESTION_STATES,
  readQuestion,
  toldQuestionsJson,
  type Question,
} from './questions.ts';
export { MOST_OPEN, recordAsked, type AskVerdict } from './record.ts';

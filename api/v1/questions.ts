import { z } from 'zod';
import * as questions from '#core/execution/questions/index.ts';
import { keyOf, timestamp } from '#lib/schemas.ts';
import { mayWriteRoutines, programOf } from '../access.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { component, idOf, pageOf, pageQuery, sentencesOf, wordOf } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { author } from './routines/version-schemas.ts';

const route = routesOf('Runs');

const runId = idOf('run');

export const question = component('AskedQuestion', {
  id: idOf('question'),
  routineId: idOf('routine'),
  routineName: z.string(),
  runId: runId.describe('The run that asked the question first.'),
  lastRunId: runId.describe('The last run that asked the same question.'),
  times: z.number().int().describe('How many times runs have asked the question.'),
  question: z.string().nullable().describe('The question as a model wrote it; null once it is erased.'),
  choices: z.array(z.string()).nullable().describe('Answers that the model proposes.'),
  default: z.string().nullable().describe('Answer that counts until a person gives another; null without one.'),
  state: wordOf(questions.QUESTION_STATES).describe(sentencesOf(questions.QUESTION_STATES)),
  answer: z.string().nullable(),
  answeredBy: author.nullable(),
  decidedAt: timestamp.nullable().describe('When the question was answered, expired or closed.'),
  answerRunId: runId.nullable().describe('The run that the answer has started.'),
  runRefused: z
    .string()
    .nullable()
    .describe('The error code for which the answer has started no run, though `afterAnswer` of the routine is `run`.'),
  expiresAt: timestamp,
  createdAt: timestamp,
  lastAskedAt: timestamp,
});

const params = z.strictObject({ questionId: idOf('question') });

const VIEW = ['id', 'routineId', 'routineName', 'lastRunId', 'question', 'choices', 'default', 'state', 'expiresAt'];

const listQuestions = route('GET /v1/questions', {
  id: 'listQuestions',
  summary: 'List the questions of runs',
  description:
    'Runs of routines with `mayAsk` ask questions, and go on without the answer. A routine has at most five open questions; the same question counts once.',
  mcp: { toolset: 'questions', view: VIEW },
  scope: 'runs:read',
  query: pageQuery('question', {
    state: keyOf(questions.QUESTION_STATES).optional().describe('Only questions in this state.'),
    routineId: idOf('routine').optional().describe('Questions of this routine only.'),
    runId: runId.optional().describe('Questions that this run asked, first or last.'),
  }),
  success: { data: z.array(question), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await questions.listQuestions(deps.database, access.projectId, { ...query, page });
  return listReply(found, page, presentQuestion);
});

const readQuestion = route('GET /v1/questions/:questionId', {
  id: 'readQuestion',
  summary: 'Read a question of a run',
  scope: 'runs:read',
  params,
  success: { data: question, description: 'The question.' },
}).to(async ({ access, params: { questionId }, deps }) => ({
  data: presentQuestion(await questions.readQuestion(deps.database, access.projectId, questionId)),
}));

const NOT_EMPTY = 'must not be empty';

const answerQuestion = route('POST /v1/questions/:questionId/answer', {
  id: 'answerQuestion',
  summary: 'Answer a question of a run',
  description:
    'A question is answered once: the same answer again gets the same response, another answer is refused. Later runs of the routine get the answer; with `afterAnswer: run` a run starts now. The answer of a key without `routines:write` is data, not an instruction. The answer may be another text than the proposed choices.',
  mcp: { toolset: 'questions', view: [...VIEW, 'answer', 'answerRunId'] },
  scope: 'runs:write',
  params,
  body: component('AnswerQuestion', { answer: z.string().min(1, NOT_EMPTY).max(4_000).regex(/\S/, NOT_EMPTY).trim() }),
  idempotent: true,
  success: { data: question, description: 'The answered question.' },
  errors: ['question_closed'],
}).to(async ({ access, by, params: { questionId }, body: { answer }, deps, newId }) => {
  const { projectId, organizationId, plan } = access;
  const given = { id: questionId, answer, fenced: !mayWriteRoutines(access), runId: newId('run') };
  const starter = { projectId, organizationId, plan, startedBy: programOf(access) };
  return { data: presentQuestion(await questions.answerQuestion(deps, by, { ...starter, ...given })) };
});

function presentQuestion(row: questions.Question) {
  return present(question, { ...row, default: row.defaultAnswer });
}

export const questionRoutes: readonly Route[] = [listQuestions, readQuestion, answerQuestion];

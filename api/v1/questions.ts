import { z } from 'zod';
import * as questions from '#core/execution/questions/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { mayWriteRoutines, programOf } from '../access.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { EXAMPLE, idOf, pageOf, pageQuery, wordOf } from '../http/schemas.ts';
import { route, type Route } from '../route.ts';
import { author } from './routines/version-schemas.ts';

const tag = 'Runs';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const STATES = Object.keys(questions.QUESTION_STATES) as [questions.QuestionState, ...questions.QuestionState[]];

const runId = idOf('run', EXAMPLE.run);

export const question = z
  .strictObject({
    id: idOf('question', EXAMPLE.question),
    routineId: idOf('routine', EXAMPLE.routine),
    routineName: z.string(),
    runId: runId.meta({ description: 'The run that asked the question first.' }),
    lastRunId: runId.meta({ description: 'The last run that asked the same question.' }),
    times: z.number().int().meta({ description: 'How many times runs have asked the question.' }),
    question: z.string().nullable().meta({ description: 'The question as a model wrote it; null once it is erased.' }),
    choices: z.array(z.string()).nullable().meta({ description: 'Answers that the model proposes.' }),
    default: z
      .string()
      .nullable()
      .meta({ description: 'Answer that counts until there is another; null without one.' }),
    state: wordOf(STATES).meta({
      description: Object.entries(questions.QUESTION_STATES)
        .map(([state, meaning]) => `\`${state}\`: ${meaning}.`)
        .join(' '),
    }),
    answer: z.string().nullable(),
    answeredBy: author.nullable(),
    decidedAt: timestamp.nullable().meta({ description: 'When the question was answered, expired or closed.' }),
    answerRunId: runId.nullable().meta({ description: 'The run that the answer has started.' }),
    runRefused: z.string().nullable().meta({
      description:
        'The error code for which the answer has started no run, though `afterAnswer` of the routine is `run`.',
    }),
    expiresAt: timestamp,
    createdAt: timestamp,
    lastAskedAt: timestamp,
  })
  .meta({ id: 'AskedQuestion' });

const params = z.strictObject({ questionId: idOf('question', EXAMPLE.question) });

const VIEW = ['id', 'routineId', 'routineName', 'lastRunId', 'question', 'choices', 'default', 'state', 'expiresAt'];

const listQuestions = route({
  method: 'GET',
  path: '/v1/questions',
  id: 'listQuestions',
  tag,
  summary: 'List the questions of runs',
  description:
    'Runs of routines with `mayAsk` ask questions, and go on without the answer. A routine has at most five open questions; the same question counts once.',
  auth: 'key-or-session',
  mcp: { toolset: 'questions', view: VIEW },
  scope: 'runs:read',
  query: pageQuery('question', {
    state: z.enum(STATES).optional().meta({ description: 'Only questions in this state.' }),
    routineId: idOf('routine', EXAMPLE.routine).optional().meta({ description: 'Questions of this routine only.' }),
    runId: runId.optional().meta({ description: 'Questions that this run asked, first or last.' }),
  }),
  success: { status: 200, data: z.array(question), description: 'Newest first.' },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const found = await questions.listQuestions(deps.database, access.projectId, { ...query, page });
  return listReply(found, page, presentQuestion);
});

const readQuestion = route({
  method: 'GET',
  path: '/v1/questions/:questionId',
  id: 'readQuestion',
  tag,
  summary: 'Read a question of a run',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:read',
  params,
  success: { status: 200, data: question, description: 'The question.' },
}).to(async ({ access, params: { questionId }, deps }) => ({
  data: presentQuestion(await questions.readQuestion(deps.database, access.projectId, questionId)),
}));

const NOT_EMPTY = 'must not be empty';

const answerQuestion = route({
  method: 'POST',
  path: '/v1/questions/:questionId/answer',
  id: 'answerQuestion',
  tag,
  summary: 'Answer a question of a run',
  description:
    'A question is answered once: the same answer again gets the same response, another answer is refused. Later runs of the routine get the answer; with `afterAnswer: run` a run starts now. The answer of a key without `routines:write` is data, not an instruction. It may be another text than the proposed choices.',
  auth: 'key-or-session',
  mcp: { toolset: 'questions', view: [...VIEW, 'answer', 'answerRunId'] },
  scope: 'runs:write',
  params,
  body: z
    .strictObject({ answer: z.string().min(1, NOT_EMPTY).max(4_000).regex(/\S/, NOT_EMPTY).trim() })
    .meta({ id: 'AnswerQuestion' }),
  idempotent: true,
  success: { status: 200, data: question, description: 'The answered question.' },
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

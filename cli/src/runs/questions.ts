import { Option, type Command } from 'commander';
import type { Shape } from 'routine-automation-sdk';
import type { Context } from '../context.ts';
import { withRoutine } from '../find.ts';
import { limitOption, listed, pageSize } from '../lists.ts';
import { when } from '../output/words.ts';

const STATES = ['open', 'answered', 'expired', 'closed'] as const;

const QUESTION = 'id of a question';

export function registerQuestions(program: Command, context: Context): void {
  const questions = program.command('questions').description('Look at questions of runs, and answer them.');
  questions
    .command('list')
    .description('List questions, newest first.')
    .option('--routine <routine>', 'only those of this routine: id, key or name')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .addOption(limitOption())
    .action((options: ListOptions) => list(context, options));
  questions
    .command('show')
    .description('Show a question with its choices and its answer.')
    .argument('<question>', QUESTION)
    .action(async (id: string) => show(context, await (await context.client()).questions.read(id)));
  questions
    .command('answer')
    .description('Answer a question, once. Later runs of its routine are told the answer.')
    .argument('<question>', QUESTION)
    .argument('<answer>', 'one of the choices, or any other text')
    .action(async (id: string, answer: string) => {
      show(context, await (await context.client()).questions.answer(id, { answer }));
    });
}

interface ListOptions {
  readonly routine?: string;
  readonly state?: (typeof STATES)[number];
  readonly limit: number;
}

async function list(context: Context, { routine, limit, ...filters }: ListOptions): Promise<void> {
  const query = { ...filters, limit: pageSize(limit) };
  const found =
    routine === undefined
      ? await listed(context, (await context.client()).questions.list(query), limit)
      : await withRoutine(context, routine, async (ras, routineId) =>
          listed(context, ras.questions.list({ ...query, routineId }), limit),
        );
  context.out.table(found, [
    { title: 'question', whole: true, value: ({ id }) => id },
    { title: 'routine', value: ({ routineName }) => routineName },
    { title: 'state', value: ({ state }) => state },
    { title: 'asks', value: ({ question }) => question },
    { title: 'until', value: ({ expiresAt }) => when(expiresAt) },
  ]);
}

function show(context: Context, question: Shape<'AskedQuestion'>): void {
  context.out.record(question, {
    Question: question.id,
    Routine: `${question.routineName} (${question.routineId})`,
    State: question.state,
    Asks: question.question,
    Choices: question.choices?.join(' | '),
    Default: question.default,
    Answer: question.answer,
    'Asked by': `${question.lastRunId}, ${question.times} times`,
    Until: when(question.expiresAt),
    'Started run': question.answerRunId,
    'Started none': question.runRefused,
  });
}

import { z } from 'zod';
import type { Fields } from './field.ts';

/** Fields of a definition about questions to people. */
export const ASKING = {
  mayAsk: {
    schema: z
      .boolean()
      .describe(
        'Lets a run ask people a question by the built-in tool `ask`. The run goes on with its default, or without an answer; later runs get the answer, in their briefing or where the instructions have `{{answers}}`.',
      )
      .default(false),
    label: 'May ask',
    help: 'A run may ask a question, and goes on without the answer. Later runs get the answer.',
    since: '0.2.0',
  },
  afterAnswer: {
    schema: z
      .enum(['wait', 'run'])
      .describe('With `run` an answer to a question starts a manual run, which gets the answer.')
      .default('wait'),
    label: 'After an answer',
    choices: { wait: { label: 'Wait for the next run' }, run: { label: 'Run at once' } },
    since: '0.2.0',
  },
  decisionHours: {
    schema: z
      .number()
      .int()
      .min(1)
      .max(720)
      .describe(
        'Hours in which a person can answer a question or decide about a held call. After that, the default of the question holds, and the call is rejected.',
      )
      .default(72),
    label: 'Time to decide',
    help: 'After this time the default of a question holds, and a held call is rejected.',
    unit: 'hours',
    since: '0.2.0',
  },
} as const satisfies Fields;

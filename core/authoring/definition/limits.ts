import { z } from 'zod';
import type { Fields, Said } from './field.ts';

/** `limits.abnormalFactor` compares a run with the median of at most this many runs. */
export const MEDIAN_OF_RUNS = 20;

/** A run below this many tokens is cheap and is not compared with other runs. */
export const ABNORMAL_FROM_TOKENS = 20_000;

export const limits = z.strictObject({
  maxSteps: z.number().int().min(1).max(200).default(25).describe('Model steps of one run.'),
  timeoutSeconds: z.number().int().min(10).max(86_400).default(900),
  maxTotalTokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullable()
    .default(null)
    .describe('Input and output tokens of one run. A step gets at most what is left.'),
  maxOutputTokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullable()
    .default(null)
    .describe('Output tokens of one model step; null leaves the limit to the provider.'),
  maxQueueSeconds: z
    .number()
    .int()
    .min(60)
    .max(604_800)
    .default(21_600)
    .describe('How long a run may wait for its first step before it is skipped.'),
  abnormalFactor: z
    .number()
    .min(1.5)
    .max(1_000)
    .nullable()
    .default(5)
    .describe(
      `A run that has used more than this many times the median of the last ${MEDIAN_OF_RUNS} runs of its version, and more than ${ABNORMAL_FROM_TOKENS} tokens, ends before its next step; null for never.`,
    ),
});

export const LIMIT_PARTS: Readonly<Record<keyof typeof limits.shape, Said>> = {
  maxSteps: { label: 'Steps of a run', help: 'Each call of the model is a step.', unit: 'steps' },
  timeoutSeconds: { label: 'Time of a run', help: 'After this time the run fails.', unit: 'seconds' },
  maxTotalTokens: {
    label: 'Tokens of a run',
    help: 'Input and output together.',
    unit: 'tokens',
    placeholder: 'No limit',
  },
  maxOutputTokens: {
    label: 'Output of a step',
    help: 'Longer texts are cut at this limit.',
    unit: 'tokens',
    placeholder: 'Up to the model',
  },
  maxQueueSeconds: {
    label: 'Longest wait',
    help: 'A run that has not begun after this time is skipped.',
    unit: 'seconds',
  },
  abnormalFactor: {
    label: 'Unusually large',
    help: 'Ends a run that uses far more tokens than earlier runs.',
    unit: 'times the usual',
    placeholder: 'Never',
  },
};

/** Fields about tool calls that wait for a person. */
export const HELD_CALLS = {
  afterApproval: {
    schema: z
      .enum(['nothing', 'run'])
      .describe(
        'What follows once no held call of a run waits any longer and at least one was sent. `run`: the routine runs once more; `{{actions}}` in its instructions says what was approved, changed or rejected, and what came of it.',
      )
      .default('nothing'),
    label: 'After approval',
    help: 'What follows when the held calls of a run are decided.',
    choices: {
      nothing: { label: 'Nothing', help: 'The next run gets the decisions.' },
      run: { label: 'Run once more', help: 'At once, if at least one call was sent.' },
    },
    since: '0.2.0',
  },
} as const satisfies Fields;

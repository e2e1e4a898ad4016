import { z } from 'zod';

/** Clients end a call after 60 s, so a tool returns before. */
const seconds = z.number().int().min(0).max(50);

/** Arguments that a tool takes besides those of its operation; the first part of them for those that name a run. */
export const runArguments = z.strictObject({
  waitSeconds: seconds.default(0).meta({
    description: 'Wait so long for its end and return what it brought; 0 returns at once.',
  }),
});

export const waitArguments = z.strictObject({
  timeoutSeconds: seconds
    .default(50)
    .meta({ description: 'Return after so long at the latest, with its state.' }),
});

export const readArguments = z.strictObject({
  detail: z.enum(['summary', 'steps', 'full']).default('summary').meta({
    description: 'summary has the result, steps also what was done, full all.',
  }),
  resultFrom: z.number().int().min(0).default(0).meta({
    description: 'The character of a long result to go on from.',
  }),
});

export const OWN_ARGUMENTS: Readonly<Record<string, z.ZodType>> = {
  run_routine: runArguments,
  wait_for_run: waitArguments,
  read_run: readArguments,
};

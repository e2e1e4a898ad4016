import { z } from 'zod';
import { OUTCOMES, RUN_WARNINGS } from '#core/authoring/outcomes/index.ts';
import { URGENCIES } from '#core/integrations/tools/index.ts';
import { RESULT_CHECK_TYPES } from '#core/authoring/definition/index.ts';
import { WITHHELD } from '#core/execution/run-states/index.ts';
import type { Run } from '#core/execution/runs/index.ts';
import { ExactNumber } from '#lib/exact-json/parse.ts';
import { component, dollars, idOf, meaningsOf } from '../../http/schemas.ts';
import { keyOf } from '#lib/schemas.ts';

export const withheld = keyOf(WITHHELD)
  .nullable()
  .describe(
    `Why no webhook got the event of the run’s end: ${meaningsOf(WITHHELD)}. Null if a webhook got the event, or if there is none to send.`,
  );

export const data = z
  .unknown()
  .describe(
    'Data of the result by the `resultSchema` of its version; null without one. Numbers have all of their digits.',
  );

const count = z.number().int();

const counts = component('ChangeCounts', { added: count, removed: count, changed: count });

const comparison = {
  against: idOf('run')
    .nullable()
    .describe('The run that was delivered last; null for the first delivery, in which everything is new.'),
  unchangedRuns: count.describe(
    'Consecutive runs without a change, including this one; for a run with a change, the ones before it.',
  ),
  counts,
};

export const number = z
  .custom<number | ExactNumber>((value) => typeof value === 'number' || value instanceof ExactNumber)
  .meta({ override: { type: 'number' } });

const items = {
  by: z
    .strictObject({ list: z.string(), key: z.string() })
    .nullable()
    .describe('The `resultKey`; null where the data was compared as a whole.'),
  added: z.array(z.unknown()),
  removed: z.array(z.unknown()),
  changed: z.array(
    component('ChangedItem', {
      key: z.union([z.string(), number, z.boolean()]).nullable(),
      before: z.unknown(),
      after: z.unknown(),
    }),
  ),
};

export const changes = component(
  'RunChanges',
  {
    ...comparison,
    ...items,
    truncated: z
      .boolean()
      .describe(
        'True when items are left out: at most 100 of each kind and 64 kB are kept. `counts` counts all, and the diff of the run has all.',
      ),
  },
  {
    description:
      'Differences from the data delivered last, found by code. Applied to the items of that run they give the items of this one.',
  },
);

export const changesSummary = component('RunChangesSummary', comparison);

export const runDiff = component('RunDiff', {
  runId: idOf('run'),
  against: comparison.against.describe('The other run of the comparison.'),
  counts,
  ...items,
});

export const outcomes = keyOf(OUTCOMES);

const checkResult = component('CheckResult', {
  type: z.enum(RESULT_CHECK_TYPES),
  passed: z.boolean(),
  detail: z.string().meta({ example: 'Distinct source addresses in the result: 2, at least 3 wanted.' }),
});

export const urgency = z.enum(URGENCIES);

/** Fields of runs and their events about the outcome. */
export const outcomeFields = {
  outcome: outcomes
    .nullable()
    .describe(
      `The outcome of a run that succeeded, null for every other: ${meaningsOf(OUTCOMES)}. It is \`done\` unless the routine requires its runs to state it. The list may grow.`,
    ),
  outcomeSummary: z
    .string()
    .nullable()
    .describe(
      'The model’s summary with its outcome, cut at 500 characters; also for a run that could not do its work.',
    ),
  urgency: urgency
    .nullable()
    .describe(
      'How soon the result should be read, null unless the run succeeded. Only the model states `high`, which causes no mail by itself. If the model states no urgency, the value is `none` for `nothing_to_report` and for unchanged data, else `normal`.',
    ),
  checks: z
    .array(checkResult)
    .describe(
      'The verdicts of the checks of the routine, in its order; empty when nothing was checked. The checks are made when the run would succeed. The list of types may grow.',
    ),
  warnings: z
    .array(keyOf(RUN_WARNINGS))
    .describe(
      `Warnings of a run that is therefore \`partial\` at best, and no proof for activation: ${meaningsOf(RUN_WARNINGS)}. The list may grow.`,
    ),
};

export const tokenCounts = {
  inputTokens: z.number().int(),
  cachedInputTokens: z.number().int().describe('Part of the input.'),
  outputTokens: z.number().int(),
  reasoningTokens: z.number().int().describe('Part of the output.'),
  totalTokens: z.number().int(),
};

export const usage = component('Usage', {
  ...tokenCounts,
  costUsd: dollars.nullable().meta({
    description: 'US dollars, a decimal string; null without a price.',
    example: '0.00042',
  }),
  estimated: z
    .boolean()
    .describe('True when the service counted the tokens from the texts, because the provider stated none.'),
});

export function withTotal<T extends Pick<Run['usage'], 'inputTokens' | 'outputTokens'>>(row: T) {
  return { ...row, totalTokens: row.inputTokens + row.outputTokens };
}

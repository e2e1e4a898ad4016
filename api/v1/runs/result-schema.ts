import { z } from 'zod';
import { OUTCOMES, RUN_WARNINGS, type RunWarning, type Outcome } from '#core/authoring/outcomes/index.ts';
import { URGENCIES } from '#core/integrations/tools/index.ts';
import { RESULT_CHECK_TYPES } from '#core/authoring/definition/index.ts';
import { WITHHELD, type Withheld } from '#core/execution/run-states/index.ts';
import type { Run } from '#core/execution/runs/index.ts';
import { ExactNumber } from '#lib/exact-json/parse.ts';
import { dollars, EXAMPLE, idOf } from '../../http/schemas.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const reasons = Object.keys(WITHHELD) as [Withheld, ...Withheld[]];

export const withheld = z
  .enum(reasons)
  .nullable()
  .meta({
    description: `Why no webhook got an event about its end: ${Object.entries(WITHHELD)
      .map(([reason, why]) => `\`${reason}\` (${why})`)
      .join(', ')}. Null if a webhook got the event, or if there is none to send.`,
  });

export const data = z.unknown().meta({
  description:
    'Data of the result by the `resultSchema` of its version; null without one. Numbers have all of their digits.',
});

const count = z.number().int();

const counts = z.strictObject({ added: count, removed: count, changed: count }).meta({ id: 'ChangeCounts' });

const comparison = {
  against: idOf('run', EXAMPLE.run).nullable().meta({
    description: 'The run that was delivered last; null for the first one, in which everything is new.',
  }),
  unchangedRuns: count.meta({
    description: 'Consecutive runs without a change, including this one; for a run with a change, the ones before it.',
  }),
  counts,
};

export const number = z
  .custom<number | ExactNumber>((value) => typeof value === 'number' || value instanceof ExactNumber)
  .meta({ override: { type: 'number' } });

const items = {
  by: z
    .strictObject({ list: z.string(), key: z.string() })
    .nullable()
    .meta({ description: 'The `resultKey`; null where the data was compared as a whole.' }),
  added: z.array(z.unknown()),
  removed: z.array(z.unknown()),
  changed: z.array(
    z
      .strictObject({
        key: z.union([z.string(), number, z.boolean()]).nullable(),
        before: z.unknown(),
        after: z.unknown(),
      })
      .meta({ id: 'ChangedItem' }),
  ),
};

export const changes = z
  .strictObject({
    ...comparison,
    ...items,
    truncated: z.boolean().meta({
      description:
        'True when items are left out: at most 100 of each kind and 64 kB are kept. `counts` counts all, and the diff of the run has all.',
    }),
  })
  .meta({
    id: 'RunChanges',
    description:
      'Differences from the data delivered last, found by code. Applied to the items of that run they give the items of this one.',
  });

export const changesSummary = z.strictObject(comparison).meta({ id: 'RunChangesSummary' });

export const runDiff = z
  .strictObject({
    runId: idOf('run', EXAMPLE.run),
    against: comparison.against.meta({ description: 'The other run of the comparison.' }),
    counts,
    ...items,
  })
  .meta({ id: 'RunDiff' });

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
export const outcomes = z.enum(Object.keys(OUTCOMES) as [Outcome, ...Outcome[]]);

const meanings = Object.entries(OUTCOMES)
  .map(([outcome, meaning]) => `\`${outcome}\` (${meaning})`)
  .join(', ');

const lacks = Object.entries(RUN_WARNINGS)
  .map(([warning, meaning]) => `\`${warning}\` (${meaning})`)
  .join(', ');

const checkResult = z
  .strictObject({
    type: z.enum(RESULT_CHECK_TYPES),
    passed: z.boolean(),
    detail: z.string().meta({ example: 'Distinct source addresses in the result: 2, at least 3 wanted.' }),
  })
  .meta({ id: 'CheckResult' });

export const urgency = z.enum(URGENCIES);

/** Fields of runs and their events about the outcome. */
export const outcomeFields = {
  outcome: outcomes.nullable().meta({
    description: `The outcome of a run that succeeded, null for every other: ${meanings}. It is \`done\` unless the routine requires its runs to state it. The list may grow.`,
  }),
  outcomeSummary: z.string().nullable().meta({
    description:
      'The model’s summary with its outcome, cut at 500 characters; also for a run that could not do its work.',
  }),
  urgency: urgency.nullable().meta({
    description:
      'How soon the result should be read, null unless the run succeeded. Only the model states `high`, which causes no mail by itself. If the model states none, it is `none` for `nothing_to_report` and for unchanged data, else `normal`.',
  }),
  checks: z.array(checkResult).meta({
    description:
      'The verdicts of the checks of the routine, in its order; empty when nothing was checked. They are made when the run would succeed. The list of types may grow.',
  }),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
  warnings: z.array(z.enum(Object.keys(RUN_WARNINGS) as [RunWarning, ...RunWarning[]])).meta({
    description: `Warnings of a run that is therefore \`partial\` at best, and no proof for activation: ${lacks}. The list may grow.`,
  }),
};

export const tokenCounts = {
  inputTokens: z.number().int(),
  cachedInputTokens: z.number().int().meta({ description: 'Part of the input.' }),
  outputTokens: z.number().int(),
  reasoningTokens: z.number().int().meta({ description: 'Part of the output.' }),
  totalTokens: z.number().int(),
};

export const usage = z
  .strictObject({
    ...tokenCounts,
    costUsd: dollars.nullable().meta({
      description: 'US dollars, a decimal string; null without a price.',
      example: '0.00042',
    }),
    estimated: z.boolean().meta({
      description: 'True when the service counted the tokens from the texts, because the provider stated none.',
    }),
  })
  .meta({ id: 'Usage' });

export function withTotal<T extends Pick<Run['usage'], 'inputTokens' | 'outputTokens'>>(row: T) {
  return { ...row, totalTokens: row.inputTokens + row.outputTokens };
}

import { z } from 'zod';
import { WITHHELD, type ChangeCounts, type Changes, type Withheld } from '#core/outcomes/index.ts';
import type { Run, RunDiff, RunSummary } from '#core/runs/index.ts';
import { EXAMPLE, idOf } from '../../http/schemas.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const reasons = Object.keys(WITHHELD) as [Withheld, ...Withheld[]];

export const withheld = z
  .enum(reasons)
  .nullable()
  .meta({
    description: `Why no webhook was told of its end: ${Object.entries(WITHHELD)
      .map(([reason, why]) => `\`${reason}\` (${why})`)
      .join(', ')}. Null where one was, or where there is nothing to tell.`,
  });

export const data = z.unknown().meta({
  description: 'What the result holds, by the `resultSchema` of its version; null without one.',
});

const count = z.number().int();

const counts = z
  .strictObject({ added: count, removed: count, changed: count })
  .meta({ id: 'ChangeCounts' });

const comparison = {
  against: idOf('run', EXAMPLE.run).nullable().meta({
    description: 'The run that was delivered last; null for the first, to which everything is new.',
  }),
  unchangedRuns: count.meta({
    description:
      'Runs in a row without a change: up to this one, or, where it brings a change, those before it.',
  }),
  counts,
};

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
        key: z.union([z.string(), z.number(), z.boolean()]).nullable(),
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
        'Whether items are left out: at most 100 of each kind are kept, and 64 kB of them. `counts` counts all, and the diff of the run has all.',
    }),
  })
  .meta({
    id: 'RunChanges',
    description:
      'What differs from the data that was delivered last, found by code. Applied to the items of that run it gives the items of this one.',
  });

export const changesSummary = z.strictObject(comparison).meta({ id: 'RunChangesSummary' });

export const runDiff = z
  .strictObject({
    runId: idOf('run', EXAMPLE.run),
    against: comparison.against.meta({ description: 'The run that it is compared with.' }),
    counts,
    ...items,
  })
  .meta({ id: 'RunDiff' });

export function presentChanges({ changes: row }: Run) {
  if (row === null) return null;
  return { ...presentComparison(row), ...presentItems(row), truncated: row.truncated };
}

export function presentChangesSummary({ changes: row }: RunSummary) {
  return row === null ? null : presentComparison(row);
}

export function presentDiff(row: RunDiff) {
  const { runId, against } = row;
  return { runId, against, counts: presentCounts(row.counts), ...presentItems(row) };
}

function presentComparison(row: NonNullable<RunSummary['changes']>) {
  const { against, unchangedRuns } = row;
  return { against, unchangedRuns, counts: presentCounts(row.counts) };
}

function presentCounts({ added, removed, changed }: ChangeCounts) {
  return { added, removed, changed };
}

function presentItems({ by, added, removed, changed }: Changes) {
  return {
    by: by === null ? null : { list: by.list, key: by.key },
    added: [...added],
    removed: [...removed],
    changed: changed.map(({ key, before, after }) => ({ key, before, after })),
  };
}

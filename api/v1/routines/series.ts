import { z } from 'zod';
import { readRoutine } from '#core/authoring/routines/index.ts';
import * as results from '#core/execution/results/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { component, decimal, idOf } from '../../http/schemas.ts';
import { routesOf } from '../../route.ts';
import { number } from '../runs/result-schema.ts';
import { routineParams } from './fields.ts';

const series = component('Series', {
  by: z
    .strictObject({ list: z.string(), key: z.string() })
    .nullable()
    .describe('The `resultKey` of the newest run; null when its data as a whole is the only item.'),
  fields: z.array(z.string()).describe('The numbers that items have, the most frequent first, at most 20.'),
  field: z.string().nullable().describe('Name of the number in `values`; null without one.'),
  runs: z.array(component('RunOfSeries', { runId: idOf('run'), at: timestamp })).describe('Oldest first.'),
  items: z
    .array(
      component('ItemOfSeries', {
        key: z.union([z.string(), number, z.boolean()]).nullable(),
        values: z.array(number.nullable()).describe('One number for each run, or null.'),
      }),
    )
    .describe('At most 200 items. The items of the newest runs come first.'),
  truncated: z.boolean().describe('Whether items are left out.'),
});

export const readSeries = routesOf('Results')('GET /v1/routines/:routineId/series', {
  id: 'readSeries',
  summary: 'Read one numeric field of each item over the runs of a routine',
  description:
    'Reads the last runs whose data has the same `resultKey` as the newest data. Numbers have all of their digits.',
  mcp: { toolset: 'usage' },
  scope: 'runs:read',
  params: routineParams,
  query: z.strictObject({
    field: z.string().min(1).max(200).optional().meta({ description: 'Name of the number.', example: 'price' }),
    key: z.string().max(1_000).optional().describe('Only the item with this key, as text.'),
    upTo: idOf('run').optional().describe('The last run of the series.'),
    limit: decimal(1, results.MAX_RUNS_OF_SERIES).default(30).describe('The most runs to read.'),
  }),
  success: { data: series, description: 'The numbers.' },
}).to(async ({ access: { projectId }, params: { routineId }, query, deps }) => {
  await readRoutine(deps.database, projectId, routineId);
  const { field, key, upTo, limit } = query;
  const { runs, ...found } = await results.readSeries(deps.database, { projectId, routineId, field, key, upTo, limit });
  return { data: present(series, { ...found, runs: runs.map(({ id, at }) => ({ runId: id, at })) }) };
});

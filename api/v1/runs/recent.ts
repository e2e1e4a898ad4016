import { z } from 'zod';
import * as runs from '#core/execution/runs/index.ts';
import { RUN_REASONS, RUN_STATES } from '#core/execution/run-states/index.ts';
import { listReply } from '../../http/links.ts';
import { present } from '../../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, decimal, idOf, pageOf, pageQuery, wordOf } from '../../http/schemas.ts';
import { routesOf } from '../../route.ts';
import { outcomes } from './result-schema.ts';

const ended = {
  id: idOf('run'),
  state: z.enum(RUN_STATES),
  reason: wordOf(RUN_REASONS).nullable(),
  outcome: outcomes.nullable(),
};

const recentRuns = component('RoutineRecentRuns', {
  routineId: idOf('routine'),
  runs: z
    .array(
      component('RecentRun', {
        ...ended,
        at: timestamp.describe('When the run began; before that, when it was due or requested.'),
      }),
    )
    .describe('Newest first.'),
  lastEnded: z
    .strictObject({
      ...ended,
      outcomeSummary: z.string().nullable(),
      errorMessage: z.string().nullable(),
      resultPreview: z.string().nullable().describe('The first 200 characters of the result.'),
      finishedAt: timestamp.nullable(),
    })
    .nullable()
    .meta({
      id: 'LastEndedRun',
      description: 'The latest run that succeeded, failed or was cancelled; null without one.',
    }),
});

export const listRecentRuns = routesOf('Runs')('GET /v1/runs/recent', {
  id: 'listRecentRuns',
  summary: 'List the last runs of each routine',
  description: 'A few runs of each routine, and the result of its last ended one, for an overview in one request.',
  scope: 'runs:read',
  query: pageQuery('routine', {
    perRoutine: decimal(1, runs.MAX_RECENT).default(10).describe('The most runs of each routine.'),
  }),
  success: {
    data: z.array(recentRuns),
    description: 'One item for each routine, in the order of the list of routines.',
  },
}).to(async ({ access, query, deps }) => {
  const page = pageOf(query);
  const input = { page, count: query.perRoutine };
  return listReply(await runs.listRecentRuns(deps.database, access.projectId, input), page, (row) =>
    present(recentRuns, { ...row, routineId: row.id }),
  );
});

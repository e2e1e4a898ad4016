import { z } from 'zod';
import * as results from '#core/execution/results/index.ts';
import { RUN_REASONS, TRIGGERS } from '#core/execution/run-states/index.ts';
import { actorId, type ProjectAccess } from '../access.ts';
import { instant, keyOf, timestamp } from '#lib/schemas.ts';
import { component, dollars, idOf, meaningsOf, pageOf, pageQuery, searchedIn, wordOf } from '../http/schemas.ts';
import { present } from '../http/present.ts';
import { routesOf, type Route } from '../route.ts';
import { scheduleFields } from '#core/authoring/definition/index.ts';
import { changes, outcomes, urgency } from './runs/result-schema.ts';

const route = routesOf('Results');

const lines = z.array(z.string()).max(5);

const result = component('Result', {
  runId: idOf('run'),
  routineId: idOf('routine'),
  routineName: z.string(),
  kind: keyOf(results.RESULT_KINDS).describe(
    `Kind of the result, by its difference from the previous one: ${meaningsOf(results.RESULT_KINDS)}. All but \`unchanged\` are worth reading.`,
  ),
  trigger: z.enum(TRIGGERS),
  state: z.enum(['succeeded', 'failed']),
  reason: wordOf(RUN_REASONS).nullable().describe('Why the run failed.'),
  errorMessage: z.string().nullable(),
  outcome: outcomes.nullable(),
  outcomeSummary: z.string().nullable(),
  urgency: urgency.nullable().describe('How soon the result should be read, as `urgency` of the run.'),
  excerpt: z.string().nullable().describe('The beginning of the text, at most 600 characters.'),
  goesOn: z.boolean().describe('Whether the text continues after the excerpt.'),
  changes: changes
    .omit({ unchangedRuns: true, truncated: true })
    .meta({
      id: 'ResultChanges',
      description:
        'Differences of the run’s data from the data delivered last: all counts, and the first five items of each kind.',
    })
    .nullable(),
  lines: z
    .strictObject({
      counts: z.strictObject({ added: z.number().int(), removed: z.number().int() }),
      added: lines,
      removed: lines,
    })
    .nullable()
    .meta({
      id: 'ResultLines',
      description:
        'Lines that only one of this and the previous result has, within the first 20,000 characters of each. Null for a result with data.',
    }),
  previousRunId: idOf('run').nullable().describe('The previous run of the routine that succeeded.'),
  costUsd: dollars.nullable().describe('US dollars.'),
  startedAt: timestamp.nullable(),
  finishedAt: timestamp,
  unread: z.boolean(),
  overtakenBy: z
    .strictObject({
      runId: idOf('run'),
      finishedAt: timestamp,
      outcome: outcomes,
      outcomeSummary: z.string().nullable(),
      resultPreview: z.string().nullable().describe('The first 200 characters of the later result.'),
      versionChanged: z
        .boolean()
        .describe(
          'True when another version of the routine made the later result, which may then cover something else.',
        ),
    })
    .nullable()
    .meta({
      id: 'OvertakingRun',
      description:
        'The first later run of the routine that succeeded with another result, which makes this result out of date. Null while this result is valid, and for an `unchanged` one. Only the first 20 later runs are looked at.',
    }),
});

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

const unread = component(
  'UnreadResults',
  {
    worthReading: z.number().int(),
    worthReadingRoutines: z.number().int().describe('Number of routines with results worth reading.'),
    unchanged: z.number().int(),
    unchangedRoutines: z.number().int().describe('Number of routines with unchanged results.'),
    more: z.boolean().describe('Whether there are more results than the 1,000 that are counted.'),
    until: timestamp
      .nullable()
      .describe('When the newest unread result ended, to mark all as read; null if all results are read.'),
    readUntil: timestamp
      .nullable()
      .describe('Time up to which the caller has marked all as read, for undoing that; null if they never did.'),
  },
  { description: `Unread results of the caller, of the last ${results.UNREAD_DAYS} days.` },
);

const listResults = route('GET /v1/results', {
  id: 'listResults',
  summary: 'List the newest results of all routines',
  description:
    'The successful and failed runs of the project, the latest first, each with its news. A page with filters looks at 1,000 results: it may have fewer than its limit, or none, although another page follows. Results with erased content are left out.',
  mcp: {
    toolset: 'results',
    view: [
      'runId',
      'routineId',
      'routineName',
      'kind',
      'state',
      'reason',
      'errorMessage',
      'outcome',
      'urgency',
      'excerpt',
      'changes',
      'lines',
      'costUsd',
      'finishedAt',
      'unread',
      'overtakenBy',
    ],
  },
  scope: 'runs:read',
  query: pageQuery('run', {
    q: searchedIn('the name, text, summary or error'),
    since: instant.optional().describe('Only results that ended at this time or later.'),
    unread: flag
      .optional()
      .describe(
        `\`true\`: only results that the caller (a person or an API key) has not marked as read. \`false\`: only the others. After ${results.UNREAD_DAYS} days a result counts as read.`,
      ),
    worthReading: flag.optional().describe('`true`: no unchanged results. `false`: only unchanged results.'),
  }),
  success: { data: z.array(result), description: 'A page of results.' },
}).to(async ({ access, query, deps }) => {
  const { q, since, unread: isUnread, worthReading } = query;
  const filter = { q, since, unread: isUnread, worthReading, page: pageOf(query) };
  const found = await results.listResults(deps.database, readerOf(access), filter);
  return {
    data: found.results.map((row) => present(result, { ...row, runId: row.id })),
    nextCursor: found.nextCursor,
  };
});

const countUnreadResults = route('GET /v1/results/unread', {
  id: 'countUnreadResults',
  summary: 'Count unread results',
  scope: 'runs:read',
  success: { data: unread, description: 'The counts.' },
}).to(async ({ access, deps }) => ({
  data: present(unread, await results.countUnread(deps.database, readerOf(access))),
}));

const week = component('ResultsByDay', {
  days: z
    .array(
      z.strictObject({
        date: z.iso.date(),
        startsAt: timestamp,
        succeeded: z.number().int(),
        failed: z.number().int(),
      }),
    )
    .describe('The last seven days, today last.'),
  truncated: z.boolean().describe('Whether only the 20,000 newest are counted.'),
});

const countResultsByDay = route('GET /v1/results/days', {
  id: 'countResultsByDay',
  summary: 'Count the results of the last seven days',
  scope: 'runs:read',
  query: z.strictObject({
    timezone: scheduleFields.timezone.default('UTC').describe('IANA time zone whose days are counted.'),
  }),
  success: { data: week, description: 'The counts, by day in the time zone.' },
  errors: ['invalid_timezone'],
}).to(async ({ access, query, deps }) => ({
  data: present(week, await results.countByDay(deps.database, access.projectId, query.timezone)),
}));

const markResultsRead = route('POST /v1/results/read', {
  id: 'markResultsRead',
  summary: 'Mark results as read',
  description:
    'For the caller alone. `until` marks all results that ended up to that time, which must not be in the future: set it to the `finishedAt` of the newest one shown, so that later ones stay unread. Unknown runs are ignored.',
  scope: 'runs:read',
  body: z
    .strictObject({
      runIds: z.array(idOf('run')).max(200).optional(),
      until: instant.optional(),
    })
    .refine((given) => Object.keys(given).length > 0, 'give runIds, a time, or both')
    .meta({ id: 'MarkResultsRead', minProperties: 1 }),
  success: { data: unread, description: 'The unread results now.' },
}).to(async ({ access, body, deps }) => {
  const reader = readerOf(access);
  await results.markRead(deps.database, reader, body);
  return { data: present(unread, await results.countUnread(deps.database, reader)) };
});

const markResultsUnread = route('POST /v1/results/unread', {
  id: 'markResultsUnread',
  summary: 'Mark results as unread',
  description:
    'For the caller alone. `since` undoes `until` of `POST /v1/results/read` for results that ended after it: set it to the earlier `readUntil`, which may be null.',
  scope: 'runs:read',
  body: z
    .strictObject({
      runIds: z.array(idOf('run')).max(200).optional(),
      since: instant.nullable().optional(),
    })
    .refine((given) => Object.keys(given).length > 0, 'give runIds, a time, or both')
    .meta({ id: 'MarkResultsUnread', minProperties: 1 }),
  success: { data: unread, description: 'The unread results now.' },
}).to(async ({ access, body, deps }) => {
  const reader = readerOf(access);
  await results.markUnread(deps.database, reader, body);
  return { data: present(unread, await results.countUnread(deps.database, reader)) };
});

function readerOf(access: ProjectAccess) {
  return { projectId: access.projectId, readerId: actorId(access) };
}

export const resultRoutes: readonly Route[] = [
  listResults,
  countUnreadResults,
  countResultsByDay,
  markResultsRead,
  markResultsUnread,
];

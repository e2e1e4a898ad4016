import { z } from 'zod';
import * as results from '#core/execution/results/index.ts';
import { RUN_REASONS, TRIGGERS } from '#core/execution/run-states/index.ts';
import { actorId, type ProjectAccess } from '../access.ts';
import { instant, timestamp } from '#lib/schemas.ts';
import { dollars, EXAMPLE, idOf, pageOf, pageQuery, searchedIn, wordOf } from '../http/schemas.ts';
import { present } from '../http/present.ts';
import { route, type Route } from '../route.ts';
import { scheduleFields } from '#core/authoring/definition/index.ts';
import { changes, outcomes, urgency } from './runs/result-schema.ts';

const tag = 'Results';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const kinds = Object.keys(results.RESULT_KINDS) as [results.ResultKind, ...results.ResultKind[]];

const lines = z.array(z.string()).max(5);

const result = z
  .strictObject({
    runId: idOf('run', EXAMPLE.run),
    routineId: idOf('routine', EXAMPLE.routine),
    routineName: z.string(),
    kind: z.enum(kinds).meta({
      description: `Kind of the result, by its difference from the previous one: ${Object.entries(results.RESULT_KINDS)
        .map(([kind, why]) => `\`${kind}\` (${why})`)
        .join(', ')}. All but \`unchanged\` are worth reading.`,
    }),
    trigger: z.enum(TRIGGERS),
    state: z.enum(['succeeded', 'failed']),
    reason: wordOf(RUN_REASONS).nullable().meta({ description: 'Why the run failed.' }),
    errorMessage: z.string().nullable(),
    outcome: outcomes.nullable(),
    outcomeSummary: z.string().nullable(),
    urgency: urgency.nullable().meta({ description: 'How soon the result should be read, as `urgency` of the run.' }),
    excerpt: z.string().nullable().meta({ description: 'The beginning of the text, at most 600 characters.' }),
    goesOn: z.boolean().meta({ description: 'Whether the text continues after the excerpt.' }),
    changes: changes
      .omit({ unchangedRuns: true, truncated: true })
      .meta({
        id: 'ResultChanges',
        description:
          'Differences of its data from the data delivered last: all counts, and the first five items of each kind.',
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
    previousRunId: idOf('run', EXAMPLE.run)
      .nullable()
      .meta({ description: 'The previous run of the routine that succeeded.' }),
    costUsd: dollars.nullable().meta({ description: 'US dollars.' }),
    startedAt: timestamp.nullable(),
    finishedAt: timestamp,
    unread: z.boolean(),
    overtakenBy: z
      .strictObject({
        runId: idOf('run', EXAMPLE.run),
        finishedAt: timestamp,
        outcome: outcomes,
        outcomeSummary: z.string().nullable(),
        resultPreview: z.string().nullable().meta({ description: 'The first 200 characters of its result.' }),
        versionChanged: z.boolean().meta({
          description: 'True when another version of the routine made that result, and may look at something else.',
        }),
      })
      .nullable()
      .meta({
        id: 'OvertakingRun',
        description:
          'The first later success of the routine with another result, so that this one is out of date; null while it is valid, and for an `unchanged` one. Only the first 20 later runs are looked at.',
      }),
  })
  .meta({ id: 'Result' });

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

const unread = z
  .strictObject({
    worthReading: z.number().int(),
    worthReadingRoutines: z.number().int().meta({ description: 'Number of routines with results worth reading.' }),
    unchanged: z.number().int(),
    unchangedRoutines: z.number().int().meta({ description: 'Number of routines with unchanged results.' }),
    more: z.boolean().meta({ description: 'Whether there are more results than the 1,000 that are counted.' }),
    until: timestamp
      .nullable()
      .meta({ description: 'When the newest unread result ended, to mark all as read; null if all results are read.' }),
    readUntil: timestamp.nullable().meta({
      description: 'Time up to which the caller has marked all as read, for undoing that; null if they never did.',
    }),
  })
  .meta({
    id: 'UnreadResults',
    description: `Unread results of the caller, of the last ${results.UNREAD_DAYS} days.`,
  });

const listResults = route({
  method: 'GET',
  path: '/v1/results',
  id: 'listResults',
  tag,
  summary: 'List the newest results of all routines',
  description:
    'The successful and failed runs of the project, the latest first, each with its news. A page with filters looks at 1,000 results: it may have fewer than its limit, or none, although another page follows. Results with erased content are left out.',
  auth: 'key-or-session',
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
    since: instant.optional().meta({ description: 'Only results that ended at this time or later.' }),
    unread: flag.optional().meta({
      description: `Only results that the caller (a person or an API key) has not marked as read, or only the others. After ${results.UNREAD_DAYS} days a result counts as read.`,
    }),
    worthReading: flag
      .optional()
      .meta({ description: 'True for all kinds but `unchanged`, false for unchanged results only.' }),
  }),
  success: { status: 200, data: z.array(result), description: 'A page of results.' },
}).to(async ({ access, query, deps }) => {
  const { q, since, unread: isUnread, worthReading } = query;
  const filter = { q, since, unread: isUnread, worthReading, page: pageOf(query) };
  const found = await results.listResults(deps.database, readerOf(access), filter);
  return {
    data: found.results.map((row) => present(result, { ...row, runId: row.id })),
    nextCursor: found.nextCursor,
  };
});

const countUnreadResults = route({
  method: 'GET',
  path: '/v1/results/unread',
  id: 'countUnreadResults',
  tag,
  summary: 'Count unread results',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:read',
  success: { status: 200, data: unread, description: 'The counts.' },
}).to(async ({ access, deps }) => ({
  data: present(unread, await results.countUnread(deps.database, readerOf(access))),
}));

const week = z
  .strictObject({
    days: z
      .array(
        z.strictObject({
          date: z.iso.date(),
          startsAt: timestamp,
          succeeded: z.number().int(),
          failed: z.number().int(),
        }),
      )
      .meta({ description: 'The last seven days, today last.' }),
    truncated: z.boolean().meta({ description: 'Whether only the 20,000 newest are counted.' }),
  })
  .meta({ id: 'ResultsByDay' });

const countResultsByDay = route({
  method: 'GET',
  path: '/v1/results/days',
  id: 'countResultsByDay',
  tag,
  summary: 'Count the results of the last seven days',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:read',
  query: z.strictObject({
    timezone: scheduleFields.timezone.default('UTC').meta({ description: 'IANA time zone whose days are counted.' }),
  }),
  success: { status: 200, data: week, description: 'The counts, by day in the time zone.' },
  errors: ['invalid_timezone'],
}).to(async ({ access, query, deps }) => ({
  data: present(week, await results.countByDay(deps.database, access.projectId, query.timezone)),
}));

const markResultsRead = route({
  method: 'POST',
  path: '/v1/results/read',
  id: 'markResultsRead',
  tag,
  summary: 'Mark results as read',
  description:
    'For the caller alone. `until` marks all results that ended up to that time, which must not be in the future: set it to the `finishedAt` of the newest one shown, so that later ones stay unread. Unknown runs are ignored.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:read',
  body: z
    .strictObject({
      runIds: z.array(idOf('run', EXAMPLE.run)).max(200).optional(),
      until: instant.optional(),
    })
    .refine((given) => Object.keys(given).length > 0, 'give runIds, a time, or both')
    .meta({ id: 'MarkResultsRead', minProperties: 1 }),
  success: { status: 200, data: unread, description: 'The unread results now.' },
}).to(async ({ access, body, deps }) => {
  const reader = readerOf(access);
  await results.markRead(deps.database, reader, body);
  return { data: present(unread, await results.countUnread(deps.database, reader)) };
});

const markResultsUnread = route({
  method: 'POST',
  path: '/v1/results/unread',
  id: 'markResultsUnread',
  tag,
  summary: 'Mark results as unread',
  description:
    'For the caller alone. `since` undoes `until` of `POST /v1/results/read` for results that ended after it: set it to the earlier `readUntil`, which may be null.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:read',
  body: z
    .strictObject({
      runIds: z.array(idOf('run', EXAMPLE.run)).max(200).optional(),
      since: instant.nullable().optional(),
    })
    .refine((given) => Object.keys(given).length > 0, 'give runIds, a time, or both')
    .meta({ id: 'MarkResultsUnread', minProperties: 1 }),
  success: { status: 200, data: unread, description: 'The unread results now.' },
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

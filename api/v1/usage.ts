import { z } from 'zod';
import {
  MAX_USAGE_GROUPS,
  MAX_USAGE_PARTS,
  readDailyParts,
  readUsage,
  USAGE_GROUPS,
  USAGE_PARTS,
} from '#core/usage/index.ts';
import { now } from '#lib/clock.ts';
import { invalid } from '#lib/errors.ts';
import { present } from '../http/present.ts';
import { component, dollars } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { tokenCounts, withTotal } from './runs/result-schema.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;

const day = z.iso.date().meta({ example: '2026-11-21' });

const sum = {
  ...tokenCounts,
  costUsd: dollars.nullable().meta({
    description: 'US dollars, a decimal string; null when no step had a price.',
    example: '0.42',
  }),
  steps: z.number().int().describe('Number of model steps.'),
};

const projectUsage = component('ProjectUsage', {
  from: day,
  to: day,
  groupBy: z.enum(USAGE_GROUPS),
  total: z.strictObject(sum),
  rehearsals: z
    .strictObject(sum)
    .describe('Usage of the rehearsals that began in this time and are on record; part of the total.'),
  groups: z
    .array(
      z.strictObject({
        key: z.string().meta({
          description: 'The day, the id of the routine or the id of the model.',
          example: '2026-11-21',
        }),
        ...sum,
        parts: z
          .array(
            z.strictObject({
              key: z.string().nullable().meta({
                description: 'The id of the routine or of the model; null for all others together.',
                example: 'example/writer-small',
              }),
              totalTokens: sum.totalTokens,
              costUsd: sum.costUsd,
            }),
          )
          .optional()
          .describe(
            `With \`splitBy\`: the usage of this day by the ${MAX_USAGE_PARTS} that used most in the whole time, and by the others together.`,
          ),
      }),
    )
    .describe(`Days in order; or the ${MAX_USAGE_GROUPS} routines or models with the most tokens, the largest first.`),
});

const readProjectUsage = routesOf('Runs')('GET /v1/usage', {
  id: 'readProjectUsage',
  summary: 'Read what the project has used',
  description: `Sums of tokens and cost by calendar day (UTC), over at most ${MAX_DAYS} days. Without \`to\` it ends today, without \`from\` it begins 29 days before its end.`,
  mcp: { toolset: 'usage' },
  scope: 'runs:read',
  query: z.strictObject({
    from: day.optional().describe('The first day.'),
    to: day.optional().describe('The last day.'),
    groupBy: z.enum(USAGE_GROUPS).default('day').describe('What the usage is summed up by.'),
    splitBy: z.enum(USAGE_PARTS).optional().describe('Splits each day; only for `groupBy=day`.'),
  }),
  success: { data: projectUsage, description: 'The usage.' },
}).to(async ({ access, query, deps }) => {
  const { groupBy, splitBy } = query;
  const to = query.to ?? isoDay(now());
  const from = query.from ?? isoDay(Date.parse(to) - 29 * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw invalid([{ path: 'from', message: 'must not be after `to`' }]);
  if (days > MAX_DAYS) throw invalid([{ path: 'from', message: `at most ${MAX_DAYS} days` }]);
  if (splitBy !== undefined && groupBy !== 'day') {
    throw invalid([{ path: 'splitBy', message: 'only with `groupBy=day`' }]);
  }
  const usage = await readUsage(deps.database, access.projectId, { from, to, groupBy });
  const parts = splitBy && (await readDailyParts(deps.database, access.projectId, { from, to, splitBy }));
  const groups = usage.groups.map((group) => ({
    ...withTotal(group),
    ...(parts && { parts: parts.filter((part) => part.day === group.key) }),
  }));
  const sums = { total: withTotal(usage.total), rehearsals: withTotal(usage.rehearsals) };
  return { data: present(projectUsage, { from, to, groupBy, ...sums, groups }) };
});

export const usageRoutes: readonly Route[] = [readProjectUsage];

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

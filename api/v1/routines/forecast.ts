import { z } from 'zod';
import {
  firstToRunOut,
  FORECAST_DAYS,
  readForecast,
  type Forecast,
  ESTIMATE_BASES,
  ESTIMATE_PRICINGS,
} from '#core/execution/forecast/index.ts';
import { EFFORTS } from '#core/clients/gateway/index.ts';
import { LIMIT_NAMES, LIMIT_SCOPES, PACE_DAYS, RAISED_BY } from '#core/usage/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { component, dollars, idOf } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { routineParams } from './fields.ts';

export const amount = component('ForecastAmount', {
  tokens: z.number().int().nullable().meta({
    description: 'Input and output tokens; null where nothing bounds them.',
    example: 5_200,
  }),
  costUsd: dollars.nullable().meta({
    description: 'US dollars, a decimal string; null for a model without prices.',
    example: '0.0124',
  }),
});

const percentiles = { p50: amount, p95: amount };

export const estimate = component('RunEstimate', {
  basis: z
    .enum(ESTIMATE_BASES)
    .describe(
      '`version_runs`: the latest runs of the present version that called their model; `proof_run`: the only such run so far; `limits`: the most that the limits of the routine and its model allow.',
    ),
  sampleSize: z.number().int().describe('Number of runs that the estimate is taken from.'),
  pricing: z
    .enum(ESTIMATE_PRICINGS)
    .describe(
      '`directory`: the present prices of the model directory; `recorded`: the recorded cost of the runs, because the directory has no prices; `unpriced`: the model has no prices, so there are only tokens.',
    ),
  ...percentiles,
});

const day = z.iso.date().nullable();

const limitForecast = component('LimitForecast', {
  scope: z.enum(LIMIT_SCOPES),
  limit: z.enum(LIMIT_NAMES),
  max: dollars.meta({
    description: 'Tokens, US dollars or runs, as a decimal string, like all amounts of this limit.',
    example: '25',
  }),
  used: dollars.meta({
    description: 'Usage by all routines in the present day, month or period.',
    example: '3.2',
  }),
  othersPerDay: dollars.meta({
    description: `Pace of the other routines that share the limit, from the last ${PACE_DAYS} days.`,
    example: '0.4',
  }),
  runsOutOn: z
    .strictObject({ p50: day, p95: day })
    .nullable()
    .describe(
      'The first day (UTC) on which too little of the limit is left, null for none. Null as a whole when the use of a run is unknown. A cost limit refuses all runs on a model without prices.',
    ),
  raisedBy: z.string().meta({ description: 'Who may raise the limit.', example: RAISED_BY.project }),
});

/** Fields of a forecast: the cost of planned runs of a routine, and the limits that they exceed. */
export const forecastFields = {
  routineId: idOf('routine'),
  revision: z.number().int(),
  effort: z
    .enum(EFFORTS)
    .nullable()
    .describe('The `model.effort` of its runs, which affects their usage; null when the model decides.'),
  occurrences: z.strictObject({
    count: z.number().int(),
    first: timestamp.nullable(),
    last: timestamp.nullable(),
  }),
  perRun: estimate,
  total: z.strictObject(percentiles),
  limits: z.array(limitForecast).describe('Every limit that binds the runs of the routine.'),
  runsOut: z
    .strictObject({ scope: z.enum(LIMIT_SCOPES), limit: z.enum(LIMIT_NAMES), on: z.iso.date() })
    .nullable()
    .describe('The limit that runs out first at p95, which has to be accepted.'),
};

const forecast = component('RoutineForecast', { ...forecastFields, from: timestamp, until: timestamp });

const readRoutineForecast = routesOf('Routines')('GET /v1/routines/:routineId/forecast', {
  id: 'readRoutineForecast',
  summary: 'Forecast what a routine will cost',
  description: `Multiplies the occurrences of the next ${FORECAST_DAYS} days, as if the routine were active now, by the usage of its runs (p50 and p95 by the nearest rank), and compares the result with every limit. Other routines count with their present pace. An archived routine has no occurrences.`,
  mcp: { toolset: 'authoring' },
  scope: 'routines:read',
  params: routineParams,
  success: { data: forecast, description: 'The forecast.' },
}).to(async ({ access, params: { routineId }, deps }) => {
  const { projectId, organizationId, plan } = access;
  const input = { id: routineId, projectId, organizationId, plan };
  const found = await readForecast(deps, input);
  const { from, until } = found.runs;
  return { data: present(forecast, { ...shownForecast(found), from, until }) };
});

export const forecastRoutes: readonly Route[] = [readRoutineForecast];

/** Returns the fields of a forecast for a response. */
export function shownForecast(row: Forecast) {
  const first = firstToRunOut(row);
  return {
    ...row,
    effort: row.effort ?? null,
    occurrences: row.runs,
    limits: row.limits.map((limit) => ({
      ...limit,
      limit: limit.name,
      runsOutOn: limit.runsOut,
      raisedBy: RAISED_BY[limit.scope],
    })),
    runsOut: first === undefined ? null : { scope: first.limit.scope, limit: first.limit.name, on: first.day },
  };
}

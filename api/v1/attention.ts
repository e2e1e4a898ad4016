import { z } from 'zod';
import { ROUTINE_STATES } from '#core/authoring/routines/index.ts';
import { RUN_REASONS } from '#core/execution/run-states/index.ts';
import { readAttention as readWhatNeedsAttention } from '#core/upkeep/attention/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { anyId, component, idOf, wordOf } from '../http/schemas.ts';
import { present } from '../http/present.ts';
import { routesOf, type Route } from '../route.ts';
import { question } from './questions.ts';
import { now } from '#lib/clock.ts';

const routine = {
  routineId: idOf('routine'),
  routineName: z.string(),
};

const attention = component('Attention', {
  held: z
    .array(
      z.strictObject({
        ...routine,
        runId: idOf('run'),
        actionId: idOf('action').describe('The first open action of the run.'),
        calls: z.number().int().describe('Number of open actions of the run.'),
        toolNames: z.array(z.string()).describe('Names of the tools of these actions, each once.'),
        expiresAt: timestamp.describe('When the first of these actions expires.'),
      }),
    )
    .describe('Runs whose held calls wait for a person (`GET /v1/actions`), the most urgent first.'),
  stopped: z
    .array(
      z.strictObject({
        ...routine,
        state: wordOf(ROUTINE_STATES),
        reason: z.string(),
        updatedAt: timestamp,
      }),
    )
    .describe('Routines that the service has taken off their schedules, and why.'),
  failed: z
    .array(
      z.strictObject({
        ...routine,
        runId: idOf('run').describe('The latest failed run.'),
        reason: wordOf(RUN_REASONS).nullable(),
        errorMessage: z.string().nullable(),
        finishedAt: timestamp,
        runs: z.number().int().describe('Number of failed runs in these 24 hours.'),
      }),
    )
    .describe('Routines with a failed run within 24 hours and no success since, without stopped routines.'),
  withoutTools: z
    .array(
      z.strictObject({
        ...routine,
        runId: idOf('run'),
        finishedAt: timestamp,
      }),
    )
    .describe(
      'Routines whose last run, within 24 hours, succeeded without the tools that it called (`warnings` of the run).',
    ),
  signIns: z
    .array(
      z.strictObject({
        kind: z.enum(['model_account', 'connection']),
        id: anyId,
        name: z.string(),
        ownerId: z.string().nullable().describe('The only person who can sign in again; null if every member can.'),
        ownerName: z.string().nullable(),
        updatedAt: timestamp,
      }),
    )
    .describe('Model accounts and connections that need another sign-in.'),
  budgets: z
    .array(
      z.strictObject({
        scope: z.enum(['routine', 'project', 'organization']),
        scopeId: anyId,
        name: z.string(),
        limit: z.enum(['maxTokensPerDay', 'maxCostUsdPerMonth']),
        percent: z.number().int(),
      }),
    )
    .describe('Budgets with at least 80 % spent in this day or month (UTC), the fullest first.'),
  skillsBehind: z
    .array(
      z.strictObject({
        ...routine,
        skills: z.array(z.string()).describe('Names of the skills.'),
      }),
    )
    .describe(
      'Active routines that run an older text of a skill. A successful manual run and another activation take over the newest text.',
    ),
  questions: z
    .array(
      question.pick({
        id: true,
        routineId: true,
        routineName: true,
        lastRunId: true,
        question: true,
        choices: true,
        default: true,
        expiresAt: true,
      }),
    )
    .describe('Open questions of runs, the newest first.'),
  truncated: z.boolean().describe('Whether a list has more entries than the 20 shown.'),
});

const DAY_MS = 86_400_000;

const readAttention = routesOf('Results')('GET /v1/attention', {
  id: 'readAttention',
  summary: 'Read what needs attention in the project',
  description: 'At most 20 entries of each kind.',
  mcp: { toolset: 'results' },
  scope: 'runs:read',
  success: {
    data: attention,
    description: 'The problems; empty lists without any.',
  },
}).to(async ({ access, deps }) => {
  const found = await readWhatNeedsAttention(deps.database, access, new Date(now() - DAY_MS));
  const questions = found.questions.map((each) => ({ ...each, default: each.defaultAnswer }));
  return { data: present(attention, { ...found, questions }) };
});

export const attentionRoutes: readonly Route[] = [readAttention];

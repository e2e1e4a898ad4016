/** Plants whole runs that are never carried out, and their usage. */
import type { RunState, Trigger } from '#core/execution/run-states/states.ts';
import { AT_ONCE, sql, type Db, type Sql } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { plant, type Values } from './rows.ts';

/** Columns that differ from those of a run that a person has just started. */
export type PlantedRun = Values<
  | 'projectId'
  | 'reason'
  | 'errorMessage'
  | 'prompt'
  | 'result'
  | 'data'
  | 'outcomeSummary'
  | 'changes'
  | 'costUsd'
  | 'stepCount'
  | 'inputTokens'
  | 'outputTokens'
  | 'maxSteps'
  | 'timeoutSeconds'
  | 'maxTotalTokens'
  | 'buildId'
  | 'runAt'
  | 'held'
  | 'afterPrevious'
  | 'standsFor'
  | 'backfillId'
  | 'scheduledFor'
  | 'skippedCount'
  | 'skippedUntil'
  | 'createdAt'
  | 'queueUntil'
  | 'admittedAt'
  | 'startedAt'
  | 'workflowStartedAt'
  | 'checkedAt'
  | 'cancelRequestedAt'
  | 'finishedAt'
  | 'contentErasedAt'
> & {
  /** A new id by default. */
  readonly id?: string;
  readonly trigger?: Trigger;
  readonly state?: RunState;
  /** The routine's latest revision by default. */
  readonly revision?: number;
};

/**
 * Plants a run that is never carried out.
 * @returns its id
 */
export async function plantRun(db: Db, routineId: string, fields: PlantedRun = {}): Promise<string> {
  const { id = newId('run'), ...others } = fields;
  await insertRuns(db, routineId, [id], others);
  return id;
}

/**
 * Plants runs of a routine. Pieces of SQL among their fields may name `n`, the number of the run.
 * @returns their ids
 */
export async function plantRuns(
  db: Db,
  routineId: string,
  count: number,
  fields: Omit<PlantedRun, 'id'> = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('run'));
  await insertRuns(db, routineId, ids, fields);
  return ids;
}

/**
 * Plants a skipped occurrence, alone or with all later occurrences until now.
 * @returns the id of its run
 */
export function plantSkipped(
  db: Db,
  routineId: string,
  scheduledFor: Date | Sql,
  fields: PlantedRun = {},
): Promise<string> {
  return plantRun(db, routineId, {
    trigger: 'schedule',
    state: 'skipped',
    reason: 'overlap',
    errorMessage: 'The previous run of the routine was still going.',
    scheduledFor,
    skippedCount: 1,
    skippedUntil: AT_ONCE,
    finishedAt: AT_ONCE,
    ...fields,
  });
}

async function insertRuns(
  db: Db,
  routineId: string,
  ids: readonly string[],
  { revision, projectId, ...fields }: Omit<PlantedRun, 'id'>,
): Promise<void> {
  const values = {
    id: sql`planted.id`,
    organizationId: sql`p.organization_id`,
    projectId: sql`p.id`,
    routineId,
    routineRevision: revision ?? sql`r.revision`,
    trigger: 'manual',
    state: 'queued',
    modelProvider: sql`r.model_provider`,
    modelConnectionId: sql`r.model_connection_id`,
    modelId: sql`r.model_id`,
    maxSteps: 5,
    timeoutSeconds: 60,
    ...fields,
  };
  const from = sql`
    from routines r join projects p on p.id = ${projectId ?? sql`r.project_id`},
      unnest(${ids}::text[]) with ordinality as planted (id, n)
    where r.id = ${routineId}
  `;
  await plant(db, 'runs', values, from);
}

/** Plants a step in each of these runs, by default the first one. */
export async function plantSteps(
  db: Db,
  runIds: readonly string[],
  fields: Values<'index' | 'kind' | 'state' | 'text' | 'messages' | 'inputTokens' | 'outputTokens'> = {},
): Promise<void> {
  const values = {
    runId: sql`run.id`,
    index: 0,
    projectId: sql`run.project_id`,
    kind: 'model',
    state: 'succeeded',
    ...fields,
  };
  await plant(db, 'steps', values, sql`from runs run where run.id = any(${runIds})`);
}

/** Plants the ledger rows for the first step of each of these runs. */
export async function plantSpending(
  db: Db,
  runIds: readonly string[],
  fields: Values<'totalTokens' | 'occurredAt'> = {},
): Promise<void> {
  const values = {
    runId: sql`run.id`,
    stepIndex: 0,
    projectId: sql`run.project_id`,
    routineId: sql`run.routine_id`,
    modelId: 'fixture/writer-small',
    totalTokens: 120,
    occurredAt: sql`now()`,
    ...fields,
  };
  await plant(db, 'usage_ledger', values, sql`from runs run where run.id = any(${runIds})`);
}

/** Plants the usage of an organization, a project or a routine on a day and in its month. */
export async function plantTotals(
  db: Db,
  scopeId: string,
  { at, tokens, costUsd }: { at: Date; tokens: number; costUsd: string | number },
): Promise<void> {
  const day = sql`(${at}::timestamptz at time zone 'utc')::date`;
  const month = sql`date_trunc('month', ${day})::date`;
  const spent = { dayTokens: tokens, monthTokens: tokens, monthCostUsd: costUsd };
  await plant(db, 'usage_totals', { scopeId, day, month, ...spent });
}

/** The usage of models by a routine on a day. */
export interface PlantedUsage {
  readonly daysAgo: number;
  readonly routineId: string;
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens?: number;
  readonly costUsd: number;
  readonly steps?: number;
}

/** Plants the usage of a project on some days. */
export async function plantUsage(db: Db, projectId: string, days: readonly PlantedUsage[]): Promise<void> {
  const values = {
    projectId,
    day: sql`(now() at time zone 'utc')::date - "daysAgo"`,
    routineId: sql`"routineId"`,
    modelId: sql`"modelId"`,
    inputTokens: sql`"inputTokens"`,
    cachedInputTokens: 0,
    outputTokens: sql`coalesce("outputTokens", 0)`,
    reasoningTokens: 0,
    costUsd: sql`"costUsd"`,
    steps: sql`coalesce(steps, 1)`,
  };
  const from = sql`
    from jsonb_to_recordset(${JSON.stringify(days)}::jsonb) as day ("daysAgo" integer, "routineId" text, "modelId" text,
      "inputTokens" bigint, "outputTokens" bigint, "costUsd" numeric, steps integer)
  `;
  await plant(db, 'usage_days', values, from);
}

import DataLoader from 'dataloader';
import { row, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import type { Routine, RoutineFields, RoutineState } from './routine.ts';

const columns = sql`
  id, project_id as "projectId", name, instructions, variables, schedule, timezone,
  jsonb_build_object('provider', model_provider, 'connectionId', model_connection_id, 'modelId', model_id) as model,
  skills, state, state_reason as "stateReason", revision, version, overlap, misfire,
  jsonb_build_object('maxSteps', max_steps, 'timeoutSeconds', timeout_seconds, 'maxTotalTokens', max_total_tokens)
    as limits,
  jsonb_build_object('maxTokensPerDay', max_tokens_per_day,
    'maxCostUsdPerMonth', trim_scale(max_cost_usd_per_month)::text) as budget,
  pause_after_failures as "pauseAfterFailures", webhook_url as "webhookUrl",
  webhook_failed_at as "webhookFailedAt", next_run_at as "nextRunAt", last_run_at as "lastRunAt",
  created_at as "createdAt", updated_at as "updatedAt", archived_at as "archivedAt"
`;

/** @throws {AppError} `routine_not_found` */
export async function readRoutine(db: Db, projectId: string, id: string): Promise<Routine> {
  const found = await loaderOf(db).load({ projectId, id });
  if (found === undefined) throw new AppError('routine_not_found');
  return found;
}

interface RoutineKey {
  readonly projectId: string;
  readonly id: string;
}

const loaders = new WeakMap<Db, DataLoader<RoutineKey, Routine | undefined>>();

/** Requests that become ready in one turn of the event loop read in one statement, each still after it came. */
function loaderOf(db: Db) {
  let loader = loaders.get(db);
  if (loader === undefined) {
    loader = new DataLoader((keys) => readRoutines(db, keys), { cache: false });
    loaders.set(db, loader);
  }
  return loader;
}

/** The routines of the keys, in their order; undefined where the project has no such routine. */
async function readRoutines(db: Db, keys: readonly RoutineKey[]): Promise<(Routine | undefined)[]> {
  const ids = keys.map(({ id }) => id);
  const projectIds = keys.map(({ projectId }) => projectId);
  const found = await rows<Routine>(
    db,
    sql`
      select ${columns} from routines
      where (id, project_id) in (select * from unnest(${ids}::text[], ${projectIds}::text[]))
    `,
  );
  const byId = new Map(found.map((routine) => [routine.id, routine]));
  return keys.map(({ id, projectId }) => {
    const routine = byId.get(id);
    return routine?.projectId === projectId ? routine : undefined;
  });
}

/**
 * Reads the routine and holds it for the rest of the transaction; runs of it may be put on record meanwhile.
 * @throws {AppError} `routine_not_found`
 */
export async function lockRoutine(tx: Db, projectId: string, id: string): Promise<Routine> {
  const found = await row<Routine>(
    tx,
    sql`select ${columns} from routines where id = ${id} and project_id = ${projectId} for no key update`,
  );
  if (found === undefined) throw new AppError('routine_not_found');
  return found;
}

export function listRoutines(
  db: Db,
  projectId: string,
  filter: { state: RoutineState | undefined; page: Page },
): Promise<Routine[]> {
  const state = filter.state ?? null;
  return rows<Routine>(
    db,
    sql`
      select ${columns} from routines
      where project_id = ${projectId} and (${state}::text is null or state = ${state})
        ${afterCursor(filter.page)}
      order by id desc limit ${filter.page.limit + 1}
    `,
  );
}

/** Inserts a draft, or finds the one that an earlier attempt of the same request inserted. */
export async function insertRoutine(
  db: Db,
  input: RoutineFields & { id: string; projectId: string; webhookSecret: string | null },
): Promise<Routine | undefined> {
  const { model, limits, budget } = input;
  return row<Routine>(
    db,
    sql`
      insert into routines (
        id, project_id, name, instructions, variables, schedule, timezone,
        model_provider, model_connection_id, model_id, skills, overlap, misfire,
        max_steps, timeout_seconds, max_total_tokens, max_tokens_per_day, max_cost_usd_per_month,
        pause_after_failures, webhook_url, webhook_secret
      ) values (
        ${input.id}, ${input.projectId}, ${input.name}, ${input.instructions}, ${JSON.stringify(input.variables)},
        ${input.schedule}, ${input.timezone}, ${model.provider}, ${model.connectionId}, ${model.modelId},
        ${input.skills}, ${input.overlap}, ${input.misfire}, ${limits.maxSteps}, ${limits.timeoutSeconds},
        ${limits.maxTotalTokens}, ${budget.maxTokensPerDay}, ${budget.maxCostUsdPerMonth},
        ${input.pauseAfterFailures}, ${input.webhookUrl}, ${input.webhookSecret}
      )
      on conflict (id) do nothing
      returning ${columns}
    `,
  );
}

/** What a change writes: the fields, and the state that follows from them. */
export interface RoutineChange {
  readonly fields: RoutineFields;
  readonly state: RoutineState;
  readonly stateReason: string | null;
  readonly revision: number;
  readonly nextRunAt: Date | null;
  /** Deliveries that a 410 stopped begin again. */
  readonly rearmWebhook: boolean;
}

/** Writes every column a caller may change; the caller holds the row. */
export async function updateRoutine(tx: Db, id: string, change: RoutineChange): Promise<Routine> {
  const { fields } = change;
  const { model, limits, budget } = fields;
  const updated = await row<Routine>(
    tx,
    sql`
      update routines set
        name = ${fields.name}, instructions = ${fields.instructions},
        variables = ${JSON.stringify(fields.variables)}, schedule = ${fields.schedule},
        timezone = ${fields.timezone}, model_provider = ${model.provider},
        model_connection_id = ${model.connectionId}, model_id = ${model.modelId}, skills = ${fields.skills},
        overlap = ${fields.overlap}, misfire = ${fields.misfire}, max_steps = ${limits.maxSteps},
        timeout_seconds = ${limits.timeoutSeconds}, max_total_tokens = ${limits.maxTotalTokens},
        max_tokens_per_day = ${budget.maxTokensPerDay}, max_cost_usd_per_month = ${budget.maxCostUsdPerMonth},
        pause_after_failures = ${fields.pauseAfterFailures},
        webhook_failed_at = case when ${change.rearmWebhook}::boolean then null else webhook_failed_at end,
        webhook_url = ${fields.webhookUrl},
        state = ${change.state}, state_reason = ${change.stateReason}, revision = ${change.revision},
        next_run_at = ${change.nextRunAt}, version = version + 1, updated_at = now()
      where id = ${id}
      returning ${columns}
    `,
  );
  if (updated === undefined) throw new AppError('routine_not_found');
  return updated;
}

/** Moves a routine whose row the caller holds. Failures counted against its schedule begin anew. */
export async function moveRoutine(
  tx: Db,
  id: string,
  to: { state: RoutineState; nextRunAt: Date | null },
): Promise<Routine> {
  const moved = await row<Routine>(
    tx,
    sql`
      update routines set
        state = ${to.state}, state_reason = null, next_run_at = ${to.nextRunAt}, consecutive_failures = 0,
        archived_at = case when ${to.state}::text = 'archived' then now() end,
        version = version + 1, updated_at = now()
      where id = ${id}
      returning ${columns}
    `,
  );
  if (moved === undefined) throw new AppError('routine_not_found');
  return moved;
}

/** Whether a manual run of this revision has succeeded. */
export async function hasProofRun(db: Db, routine: Routine): Promise<boolean> {
  const proof = await row(
    db,
    sql`
      select 1 from runs
      where routine_id = ${routine.id} and project_id = ${routine.projectId}
        and routine_revision = ${routine.revision} and trigger = 'manual' and state = 'succeeded'
      limit 1
    `,
  );
  return proof !== undefined;
}

/** The sealed webhook secret of a routine that has one. */
export async function readWebhookSecret(
  db: Db,
  projectId: string,
  id: string,
): Promise<string | undefined> {
  const found = await row<{ secret: string | null }>(
    db,
    sql`select webhook_secret as secret from routines where id = ${id} and project_id = ${projectId}`,
  );
  return found?.secret ?? undefined;
}

export async function writeWebhookSecret(
  tx: Db,
  input: { id: string; projectId: string; secret: string; keepPrevious: boolean },
): Promise<void> {
  await row(
    tx,
    sql`
      update routines set
        webhook_secret_previous = case when ${input.keepPrevious}::boolean then webhook_secret end,
        webhook_secret_previous_until =
          case when ${input.keepPrevious}::boolean and webhook_secret is not null then now() + interval '24 hours' end,
        webhook_secret = ${input.secret}, version = version + 1, updated_at = now()
      where id = ${input.id} and project_id = ${input.projectId}
    `,
  );
}

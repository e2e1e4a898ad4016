import type { Core } from '#core/core.ts';
import { runsAtATimeOf, runsExceeded, takeOneRun, type Plan } from '#core/accounts/billing/index.ts';
import type { StartableRun } from '#core/foundation/engine/index.ts';
import { afterCommit, sql, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { SLOTS } from '#lib/provider-file/index.ts';
import {
  accountPlaces,
  assertRehearses,
  MOST_FOR_BUDGET,
  shareOf,
  RUN_START_LEASE,
  takePlace,
  takesPlace,
  waitsForBudget,
  type Admission,
} from '#core/execution/admission/index.ts';
import { runColumns, type Run } from './run.ts';
import { findRun } from './queries.ts';

interface RunRequest {
  readonly id: string;
  readonly projectId: string;
  readonly organizationId: string;
  readonly plan: Plan;
  readonly routineId: string;
  readonly retryOf?: string;
  /** Earliest start; null to start at once. */
  readonly runAt?: Date | null;
  /** Scheduled instant of the run that this run repeats; null if that run had none. */
  readonly standsFor?: Date | null;
  /**
   * Ids of the API keys and consents of assistants that cause the run, separated by spaces; null for a person alone.
   */
  readonly startedBy: string | null;
  /** True for a run that reads but does not write, and whose result is not a result of its routine. */
  readonly rehearses?: boolean;
  /** The version of a proposal that the run executes in place of the routine's own. */
  readonly revision?: number;
}

interface GivenValues {
  readonly variables: Readonly<Record<string, string>>;
  /** True when the caller may not write routines: the values are then data and not instructions. */
  readonly valuesFenced: boolean;
}

export type ManualRun = RunRequest & (GivenValues | { readonly [Field in keyof GivenValues]?: never });

/** The most runs of a project that may wait for their times. */
const MAX_HELD = 1_000;

export interface StartDeps extends Pick<Core, 'database' | 'engine' | 'log' | 'providerEnabled'> {
  readonly admission: Admission;
}

type EnqueueDeps = Pick<Core, 'providerEnabled'> & { readonly admission: Pick<Admission, 'rule'> };

export interface EnqueuedRun {
  readonly run: Run;
  /** Set when the run was admitted at once: the caller starts its workflow. Otherwise the run waits for admission. */
  readonly startable: StartableRun | undefined;
}

/**
 * Inserts a manual run or a rehearsal as `queued` and counts it against the month's allowance, in one statement. The
 * statement admits the run when no other run waits, the share of the organization has room and the organization has no
 * limit of its own, so that an idle service needs no round of admission. Otherwise the run waits for its turn.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `invalid_variable`, `invalid_request` for a `runAt` that
 * is not within the next year, `limit_reached`, `allowance_exceeded`, `provider_disabled`, `service_unavailable` for a
 * rehearsal beside workers of an earlier release
 */
export async function enqueueManualRun(
  { admission: { rule }, providerEnabled }: EnqueueDeps,
  db: Db,
  input: ManualRun,
): Promise<EnqueuedRun> {
  const { runAt = null, retryOf = null, standsFor = null, valuesFenced = false } = input;
  const variables = JSON.stringify(input.variables ?? {});
  const disabled = disabledProviders({ providerEnabled });
  const trigger = input.rehearses === true ? 'rehearsal' : 'manual';
  if (trigger === 'rehearsal') await assertRehearses(db, rule.taskQueue);
  const found = await db.row<
    {
      routineState: string;
      disabled: boolean;
      timely: boolean;
      held: number;
      unknown: string[];
      closed: string[];
      timeoutSeconds: number;
      admitted: boolean | null;
    } & (Run | { id: null })
  >`
    with routine as (
      select r.id, r.project_id, r.state, made.revision, made.definition -> 'variables' as variables,
        made.definition #>> '{model,provider}' as model_provider, made.definition #>> '{model,modelId}' as model_id,
        made.definition #>> '{model,connectionId}' as model_connection_id,
        (made.definition #>> '{limits,maxSteps}')::integer as max_steps,
        (made.definition #>> '{limits,timeoutSeconds}')::integer as timeout_seconds,
        (made.definition #>> '{limits,maxTotalTokens}')::integer as max_total_tokens,
        (made.definition #>> '{limits,maxQueueSeconds}')::integer as max_queue_seconds,
        array(select given from jsonb_object_keys(${variables}::jsonb) given
          where not coalesce(made.definition -> 'variables' ? given, false)) as unknown,
        array(select given.key from jsonb_each_text(${variables}::jsonb) given
          where jsonb_typeof(made.definition -> 'overridable') = 'array'
            and not made.definition -> 'overridable' ? given.key
            and given.value <> made.definition -> 'variables' ->> given.key) as closed
      from routines r left join routine_versions v on v.routine_id = r.id and v.revision = ${input.revision ?? null}
      cross join lateral (select coalesce(v.revision, r.revision) as revision,
        coalesce(v.definition, r.definition) as definition) made
      where r.id = ${input.routineId} and r.project_id = ${input.projectId}
    ), timing as (
      select ${runAt}::timestamptz is null or (${runAt}::timestamptz > now()
          and ${runAt}::timestamptz <= now() + interval '1 year') as timely,
        case when ${runAt}::timestamptz is null then 0 else
          (select count(*) from runs where project_id = ${input.projectId} and held and state = 'queued') end as held
    ), accepted as (
      select routine.* from routine, timing
      where state <> 'archived' and cardinality(unknown) = 0 and cardinality(closed) = 0
        and model_provider <> all(${disabled}::text[]) and timely and held < ${MAX_HELD}
        and not exists (select 1 from runs where id = ${input.id})
    ), allowed as (
      ${takeOneRun(input.organizationId, input.plan, sql`where exists (select 1 from accepted)`)}
    ), room as (
      select case when ${runAt}::timestamptz is null and ${runsAtATimeOf(rule.planRule)} is null
          and not exists (select from accepted where model_connection_id is not null
            and exists (select from (${accountPlaces(rule)}) accounts
              where accounts.account = accepted.model_connection_id and accounts.places <= 0))
          and (select count(*) from runs where ${waitsForBudget} and organization_id = o.id
            and project_id = ${input.projectId}) < ${MOST_FOR_BUDGET}
          and coalesce((select count(*) from runs where ${takesPlace} and organization_id = o.id)
            < ${shareOf(rule.taskQueue, sql`o.id`)}, true)
        then ${takePlace(rule.taskQueue)} else false end as free
      from organizations o where o.id = ${input.organizationId}
    ), run as (
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, variables,
        retry_of, model_provider, model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens,
        queue_until, admitted_at, start_leased_until, run_at, held, stands_for, proves, started_by, values_fenced)
      select ${input.id}, ${input.organizationId}, project_id, id, revision, ${trigger}, 'queued',
        ${variables}, ${retryOf}, model_provider, model_connection_id, model_id, max_steps, timeout_seconds,
        max_total_tokens, coalesce(${runAt}::timestamptz, now()) + max_queue_seconds * interval '1 second',
        case when room.free then now() end, case when room.free then now() + ${RUN_START_LEASE} end,
        ${runAt}::timestamptz, ${runAt}::timestamptz is not null, ${standsFor}::timestamptz,
        case when not ${variables}::jsonb <@ accepted.variables then false end, ${input.startedBy},
        ${valuesFenced} or exists (select from runs repeated where repeated.id = ${retryOf}
          and repeated.project_id = ${input.projectId} and repeated.values_fenced)
      from accepted, allowed, room
      returning ${runColumns}, admitted_at is not null as admitted
    )
    select routine.state as "routineState",
      routine.model_provider = any(${disabled}::text[]) as disabled, unknown, closed,
      timeout_seconds as "timeoutSeconds", timely, held::integer as held, run.*
    from routine cross join timing left join run on true
  `;
  if (found === undefined) throw new AppError('routine_not_found');
  if (found.routineState === 'archived') throw new AppError('routine_archived');
  assertMayBeGiven(found);
  const { id, projectId, organizationId, routineId } = input;
  // If no run was inserted, an earlier attempt of this request inserted it, or the month's runs are used up.
  const run = found.id === null ? await findRun(db, projectId, id) : found;
  if (run === undefined) throw refusalOf(found) ?? (await runsExceeded(db, input));
  if (found.admitted !== true) return { run, startable: undefined };
  const { timeoutSeconds } = found;
  return { run, startable: { id, projectId, organizationId, routineId, trigger, timeoutSeconds } };
}

/** @throws {AppError} `invalid_variable` naming each variable that the routine lacks, or does not let callers set */
export function assertMayBeGiven(given: {
  readonly unknown: readonly string[];
  readonly closed: readonly string[];
}): void {
  const faultsOf = (names: readonly string[], message: string) =>
    names.map((name) => ({ path: `variables.${name}`, message }));
  const faults = [
    ...faultsOf(given.unknown, 'the routine has no such variable'),
    ...faultsOf(given.closed, '`overridable` of the routine does not list this variable'),
  ];
  if (faults.length > 0) throw invalid(faults, 'invalid_variable');
}

function refusalOf(found: { disabled: boolean; timely: boolean; held: number }): AppError | undefined {
  if (found.disabled) return new AppError('provider_disabled');
  if (!found.timely) return invalid([{ path: 'runAt', message: 'must be in the future, and within a year' }]);
  if (found.held < MAX_HELD) return undefined;
  return new AppError('limit_reached', `${MAX_HELD} runs of the project wait for a start time, the most allowed.`);
}

/** Records a manual run and starts its workflow. @throws {AppError} as `enqueueManualRun` does */
export async function startManualRun(deps: StartDeps, input: ManualRun): Promise<Run> {
  return startAdmitted(deps, await enqueueManualRun(deps, deps.database, input));
}

export function disabledProviders({ providerEnabled }: Pick<Core, 'providerEnabled'>): readonly string[] {
  return SLOTS.filter((slot) => !providerEnabled(slot));
}

/** Starts an admitted run. When Temporal is away, the row stays unchanged and the next admission starts the run. */
export async function startAdmitted(deps: StartDeps, { run, startable }: EnqueuedRun): Promise<Run> {
  if (startable === undefined) {
    deps.admission.nudge();
    return run;
  }
  try {
    await deps.engine.startRun(startable);
  } catch (err) {
    deps.log.warn({ err, runId: run.id }, 'a run stays queued until its workflow can be started');
  }
  return run;
}

/**
 * Records a run that the service itself starts, in the caller's transaction; its workflow starts after the commit.
 * @throws {AppError} as `enqueueManualRun` does
 */
export async function startLater(
  deps: StartDeps,
  tx: Db,
  of: Pick<ManualRun, 'projectId' | 'organizationId' | 'plan' | 'routineId' | 'startedBy'>,
): Promise<void> {
  const enqueued = await enqueueManualRun(deps, tx, { ...of, id: newId('run') });
  afterCommit(tx, () => void startAdmitted(deps, enqueued));
}

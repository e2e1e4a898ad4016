/**
 * Puts rows in place that the API cannot make, or not in time: a run that ended a month ago, a routine that is due, an
 * account whose token has expired. It is the one file of the tests that writes tables of the product.
 */
import { SYSTEM } from '#core/audit/index.ts';
import { insertConnection } from '#core/connections/index.ts';
import type { RunState, Trigger } from '#core/runs/states.ts';
import { tick } from '#core/scheduling/index.ts';
import {
  AT_ONCE,
  execute,
  join,
  raw,
  sql,
  type Database,
  type Db,
  type Sql,
} from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { ApiClient } from './client.ts';
import { createRoutine } from './routines.ts';
import type { Service } from './service.ts';

/** Time before now, as the database sees it: `ago('2 days')`. */
export function ago(interval: string): Sql {
  return sql`now() - ${interval}::interval`;
}

/** Time after now, as the database sees it. */
export function ahead(interval: string): Sql {
  return sql`now() + ${interval}::interval`;
}

/** Moves a time that is there, back by an interval or ahead by a negative one. */
export function earlier(interval: string): (column: Sql) => Sql {
  return (column) => sql`${column} - ${interval}::interval`;
}

/** Changes runs as time, a worker or a loss would have. */
export const changeRuns = changer<
  | 'trigger'
  | 'state'
  | 'result'
  | 'outcome'
  | 'data'
  | 'changes'
  | 'pinned'
  | 'buildId'
  | 'createdAt'
  | 'startedAt'
  | 'admittedAt'
  | 'finishedAt'
  | 'checkedAt'
  | 'runAt'
  | 'queueUntil'
  | 'waitsSince'
  | 'waitsUntil'
  | 'workflowStartedAt'
  | 'startLeasedUntil'
  | 'cancelRequestedAt'
  | 'contentErasedAt'
  | 'scheduledFor'
>('runs');

/** Changes routines past what the API allows: due at once, active without a proof, on a model that is gone. */
export const changeRoutines = changer<
  | 'state'
  | 'stateReason'
  | 'revision'
  | 'schedule'
  | 'overlap'
  | 'nextRunAt'
  | 'endsAt'
  | 'maxSteps'
  | 'maxQueueSeconds'
  | 'timeoutSeconds'
  | 'pauseAfterFailures'
  | 'modelProvider'
  | 'modelConnectionId'
  | 'modelId'
  | 'webhookUrl'
  | 'webhookSecret'
  | 'webhookSecretPreviousUntil'
>('routines');

/** Changes connections to tool servers: another address, a credential that expires or is refused. */
export const changeConnections = changer<
  'state' | 'publicError' | 'url' | 'urlQuery' | 'credentials' | 'credentialsExpireAt' | 'updatedAt'
>('connections');

/** Changes policies of tools past what a discovery allows. */
export const changePolicies = changer<'description'>('tool_policies');

/** Changes accounts at model providers: a credential that expires, a renewal that died, an owner who left. */
export const changeAccounts = changer<
  | 'state'
  | 'publicError'
  | 'ownerId'
  | 'credential'
  | 'credentialExpiresAt'
  | 'notBefore'
  | 'renewalLease'
  | 'renewalSentVersion'
  | 'renewalLeasedUntil'
  | 'catalogueFreshUntil'
  | 'catalogueLeasedUntil'
>('model_connections');

/** Changes projects: a shorter retention, a budget, a deletion some time ago. */
export const changeProjects = changer<
  'deletedAt' | 'runContentDays' | 'runDays' | 'maxTokensPerDay' | 'maxCostUsdPerMonth'
>('projects');

/** Changes what organizations pay for, and what they demand. */
export const changeOrganizations = changer<
  'paidPlan' | 'paidUntil' | 'periodEnd' | 'requiresSecondFactor'
>('organizations');

/** Changes deliveries of webhooks: due at once, or given up. */
export const changeDeliveries = changer<
  'state' | 'nextAttemptAt' | 'claimedUntil' | 'attemptCount'
>('webhook_deliveries');

/** Changes people: an account that was made some time ago. */
export const changePeople = changer<'createdAt' | 'emailVerified'>('users');

/** Changes API keys: one that was used, or has expired, some time ago. */
export const changeKeys = changer<'lastUsedAt' | 'expiresAt'>('api_keys');

/** Changes sign-ins at model providers that are under way: due to be asked for, or over. */
export const changeSignIns = changer<'nextPollAt' | 'expiresAt'>('model_sign_ins');

/** Lets time pass since a person last proved who they are. */
export async function ageProofs(db: Db, userId: string, interval: string): Promise<void> {
  await execute(
    db,
    sql`update sessions set proven_at = proven_at - ${interval}::interval where user_id = ${userId}`,
  );
}

/** Lets time pass since a person last used a code of their authenticator. */
export async function ageCodes(db: Db, userId: string): Promise<void> {
  await execute(
    db,
    sql`update second_factors set last_step = last_step - 10 where user_id = ${userId}`,
  );
}

/** Lets time pass for the checkouts of an organization. */
export async function ageCheckouts(
  db: Db,
  organizationId: string,
  interval: string,
): Promise<void> {
  await execute(
    db,
    sql`
      update billing_checkouts set created_at = created_at - ${interval}::interval
      where organization_id = ${organizationId}
    `,
  );
}

/** Sets what an organization, a project or a routine has spent today. */
export async function spendToday(db: Db, scopeId: string, tokens: number): Promise<void> {
  await execute(
    db,
    sql`update usage_totals set day_tokens = ${tokens} where scope_id = ${scopeId}`,
  );
}

/** Lets time pass for what is counted under these rules, by the names that they have in `rate_limits`. */
export async function ageCounts(db: Db, rule: string, interval: string): Promise<void> {
  await execute(
    db,
    sql`
      update rate_limits set window_start = window_start - ${interval}::interval
      where credential like ${`${rule}:%`}
    `,
  );
}

/** Sets what has been counted under a rule, in windows that begin now, for all that it has counted before. */
export async function fillCounts(db: Db, rule: string, count: number): Promise<void> {
  await execute(
    db,
    sql`
      update rate_limits set count = ${count}, window_start = now()
      where credential like ${`${rule}:%`}
    `,
  );
}

/** Puts events of an organization on record, of a thousand targets in turn. */
export async function plantAuditEvents(
  db: Db,
  organizationId: string,
  count: number,
): Promise<void> {
  await execute(
    db,
    sql`
      insert into audit_events (id, organization_id, actor_kind, action, target_id)
      select 'aud_' || lpad(n::text, 26, '0'), ${organizationId}, 'system', 'routine.paused', 'target ' || n % 1000
      from generate_series(1, ${count}::integer) n
    `,
  );
}

/** Lets an organization have been there for some days, with so many runs in the period that began with it. */
export async function plantPeriod(
  db: Db,
  organizationId: string,
  { daysAgo, runs }: { daysAgo: number; runs: number },
): Promise<void> {
  await execute(
    db,
    sql`
      with aged as (
        update organizations set created_at = now() - ${daysAgo}::integer * interval '1 day'
        where id = ${organizationId} returning id, created_at
      )
      insert into period_runs (organization_id, period_start, runs) select id, created_at, ${runs} from aged
    `,
  );
}

/** Lets the hour of a project's mails be over. */
export async function passProjectHour(db: Db, projectId: string): Promise<void> {
  await execute(
    db,
    sql`
      update project_mail_turns set since = since - interval '61 minutes' where project_id = ${projectId}
    `,
  );
}

/** Counts a run of an organization in this month, as its start would have. */
export async function countRun(db: Db, organizationId: string): Promise<void> {
  await execute(
    db,
    sql`
      insert into period_runs (organization_id, period_start, runs)
      values (${organizationId}, date_trunc('month', now(), 'utc'), 1)
      on conflict (organization_id, period_start) do update set runs = period_runs.runs + 1
    `,
  );
}

/** Lets time pass for a run that waits for a budget; returns false where it does not wait just now. */
export async function ageWait(db: Db, runId: string, interval: string): Promise<boolean> {
  const aged = await execute(
    db,
    sql`
      update runs set started_at = started_at - ${interval}::interval,
        waits_since = waits_since - ${interval}::interval
      where id = ${runId} and waits_since is not null
    `,
  );
  return aged === 1;
}

/** Makes a user a member of an organization, or gives a member another role, without an invitation. */
export async function giveRole(
  db: Db,
  organizationId: string,
  userId: string,
  role: string,
): Promise<void> {
  await execute(
    db,
    sql`
      insert into memberships (organization_id, user_id, role) values (${organizationId}, ${userId}, ${role})
      on conflict (user_id, organization_id) do update set role = excluded.role
    `,
  );
}

/** Makes the next occurrence of an active routine due, and has a tick claim it. */
export async function fallDue({ deps }: Pick<Service, 'deps'>, routineId: string): Promise<void> {
  await changeRoutines(deps.database, routineId, { nextRunAt: AT_ONCE });
  await tick(deps);
}

/** Makes a scheduled run that a tick has claimed; it waits while the service has no workers. */
export async function claimedRun(
  service: Service,
  key: ApiClient,
  fields: Record<string, unknown> = {},
): Promise<{ routineId: string; runId: string }> {
  const routineId = await createRoutine(key, { schedule: '@yearly', ...fields });
  return { routineId, runId: await claimRunOf(service, key, routineId) };
}

/** Activates a draft as if a manual run of it had succeeded, and has a tick claim an occurrence. */
export async function claimRunOf(
  service: Service,
  key: ApiClient,
  routineId: string,
): Promise<string> {
  await plantRun(service.deps.database, routineId, { state: 'succeeded' });
  const active = await key.post(`/v1/routines/${routineId}/activate`);
  if (active.status !== 200) throw new Error(JSON.stringify(active.body));
  await fallDue(service, routineId);
  // The claim lets runs in in the background, which must not meet the room that a test announces next.
  await service.deps.admission.settled();
  const [run] = (await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
  if (run?.state !== 'queued') throw new Error(`the claimed run is ${run?.state}`);
  return run.id;
}

/** Columns of a run that differ from those of one that a person has just started. */
export interface PlantedRun {
  /** By default a new one. */
  readonly id?: string;
  readonly trigger?: Trigger;
  readonly state?: RunState;
  /** By default the routine's latest. */
  readonly revision?: number;
  readonly maxSteps?: number;
  readonly timeoutSeconds?: number;
  readonly maxTotalTokens?: number | null;
  readonly queueUntil?: Date;
  readonly admittedAt?: Date;
  readonly startedAt?: Date;
  readonly workflowStartedAt?: Date;
  readonly finishedAt?: Date;
}

/**
 * Puts a run of a routine into the database, where nothing carries it out.
 * @returns its id
 */
export async function plantRun(
  database: Database,
  routineId: string,
  fields: PlantedRun = {},
): Promise<string> {
  const id = fields.id ?? newId('run');
  const planted = await execute(
    database,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, model_provider,
        model_connection_id, model_id, max_steps, timeout_seconds, max_total_tokens, queue_until, admitted_at,
        started_at, workflow_started_at, finished_at)
      select ${id}, p.organization_id, p.id, r.id, coalesce(${fields.revision}::integer, r.revision),
        ${fields.trigger ?? 'manual'}, ${fields.state ?? 'queued'}, r.model_provider, r.model_connection_id, r.model_id,
        ${fields.maxSteps ?? 5}, ${fields.timeoutSeconds ?? 60}, ${fields.maxTotalTokens}::integer,
        ${fields.queueUntil}::timestamptz, ${fields.admittedAt}::timestamptz, ${fields.startedAt}::timestamptz,
        ${fields.workflowStartedAt}::timestamptz, ${fields.finishedAt}::timestamptz
      from routines r join projects p on p.id = r.project_id where r.id = ${routineId}
    `,
  );
  if (planted !== 1) throw new Error(`there is no routine ${routineId}`);
  return id;
}

/** Puts calls of a tool behind the steps of a run, each with a result of this length. */
export async function plantSteps(
  database: Database,
  runId: string,
  { count, textLength }: { count: number; textLength: number },
): Promise<void> {
  await execute(
    database,
    sql`
      insert into steps (run_id, index, project_id, kind, state, tool, started_at, finished_at)
      select r.id, last.index + n, r.project_id, 'tool', 'succeeded', jsonb_build_object('name', 'read',
          'toolName', 'read', 'connectionId', null, 'policyId', null, 'arguments', '{}', 'argumentsLength', 2,
          'isError', false, 'result', repeat('x', ${textLength}::integer), 'resultLength', ${textLength}::integer,
          'structured', null, 'structuredLength', null, 'attachments', '[]'::jsonb), now(), now()
      from runs r, (select max(index) as index from steps where run_id = ${runId}) last,
        generate_series(1, ${count}::integer) n
      where r.id = ${runId}
    `,
  );
}

/** Puts a connected tool server into a project, with its token sealed, without asking that server for anything. */
export async function plantConnection(
  { deps: { database, connectionSecrets } }: Pick<Service, 'deps'>,
  projectId: string,
  { id, url, token }: { id: string; url: string; token: string },
): Promise<void> {
  await insertConnection(database, connectionSecrets, SYSTEM, {
    id,
    projectId,
    kind: 'tool_server',
    provider: null,
    name: 'Planted',
    url,
    auth: 'bearer',
    accountLabel: null,
    scopes: [],
    server: null,
    state: 'ready',
    publicError: null,
    createdBy: null,
    checkedAt: null,
    credentialsExpireAt: null,
    sealedCredentials: connectionSecrets.seal(id, { token }),
  });
}

type Value =
  | string
  | number
  | boolean
  | Date
  | null
  | Sql
  | ((column: Sql) => Sql)
  | readonly string[];
type Fields<Name extends string> = Readonly<Partial<Record<Name, Value>>>;

/** Makes a function that sets columns, named as in the code, of the rows with these ids. */
function changer<Name extends string>(table: string) {
  return async (db: Db, ids: string | readonly string[], fields: Fields<Name>): Promise<void> => {
    const set = Object.entries<Value | undefined>(fields).map(([name, value]) => {
      const column = raw(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
      return sql`${column} = ${typeof value === 'function' ? value(column) : value}`;
    });
    const wanted = new Set(typeof ids === 'string' ? [ids] : ids);
    const statement = sql`update ${raw(table)} set ${join(set)} where id = any(${[...wanted]})`;
    const changed = await execute(db, statement);
    if (changed !== wanted.size) throw new Error(`${changed} rows of ${table} were changed`);
  };
}

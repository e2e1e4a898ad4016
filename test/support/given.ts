/**
 * Plants rows that the API cannot make, or cannot make in time: a run that ended a month ago, a due routine, an account
 * with an expired token. Of all tests, only this file and its folder write the product's tables.
 */
import { tick } from '#core/scheduling/index.ts';
import { AT_ONCE, sql, type Db } from '#lib/database/index.ts';
import type { ApiClient } from './client.ts';
import { changer, remover } from './given/rows.ts';
import { plantRun } from './given/runs.ts';
import { createRoutine } from './routines.ts';
import type { Service } from './service.ts';

export { ago, ahead, earlier, EVERY, ifAny, increasedBy, refusedEarlier } from './given/rows.ts';
export * from './given/planted.ts';
export * from './given/runs.ts';

/** Changes runs as time, a worker or a loss would. */
export const changeRuns = changer<
  | 'waitsUntil'
  | 'waitsSince'
  | 'projectId'
  | 'routineId'
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
  | 'workflowStartedAt'
  | 'startLeasedUntil'
  | 'cancelRequestedAt'
  | 'contentErasedAt'
  | 'scheduledFor'
  | 'skippedUntil'
>('runs');
export const removeRuns = remover<'projectId'>('runs');

/** Place of each field in a definition. */
const IN_DEFINITION = {
  instructions: ['instructions'],
  maxSteps: ['limits', 'maxSteps'],
  maxOutputTokens: ['limits', 'maxOutputTokens'],
  maxQueueSeconds: ['limits', 'maxQueueSeconds'],
  timeoutSeconds: ['limits', 'timeoutSeconds'],
  modelProvider: ['model', 'provider'],
  modelConnectionId: ['model', 'connectionId'],
  modelId: ['model', 'modelId'],
} as const;

/** Changes routines beyond what the API allows, for example to one that is due at once, or active without a proof. */
export const changeRoutines = changer<
  | 'id'
  | 'name'
  | 'projectId'
  | 'state'
  | 'archivedAt'
  | 'updatedAt'
  | 'stateReason'
  | 'revision'
  | 'definition'
  | 'instructions'
  | 'schedule'
  | 'overlap'
  | 'nextRunAt'
  | 'endsAt'
  | 'maxSteps'
  | 'maxOutputTokens'
  | 'maxTokensPerDay'
  | 'maxCostUsdPerMonth'
  | 'maxQueueSeconds'
  | 'timeoutSeconds'
  | 'pauseAfterFailures'
  | 'consecutiveFailures'
  | 'modelProvider'
  | 'modelConnectionId'
  | 'modelId'
  | 'webhookUrl'
  | 'webhookSecret'
  | 'webhookSecretPreviousUntil'
>('routines', IN_DEFINITION);

/** Gives connections to tool servers another address, or a credential that expires or is refused. */
export const changeConnections = changer<
  | 'state'
  | 'publicError'
  | 'url'
  | 'urlQuery'
  | 'credentials'
  | 'credentialsExpireAt'
  | 'credentialsLifeSeconds'
  | 'renewalRefusals'
  | 'renewalLease'
  | 'renewalLeasedUntil'
  | 'updatedAt'
>('connections');

export const removeConnections = remover<'id'>('connections');

/** Lets questions expire. */
export const changeQuestions = changer<'id' | 'expiresAt'>('questions');

export const changeSkills = changer<'id' | 'deletedAt'>('skills');

/** Changes policies of tools beyond what a discovery or a person may change. */
export const changePolicies = changer<
  'id' | 'routineId' | 'toolName' | 'description' | 'state' | 'confirmedHash' | 'confirmedAt'
>('tool_policies');

/** Sets held calls to expired, due, or left behind by a worker that died. */
export const changeActions = changer<'state' | 'expiresAt' | 'startAt' | 'decidedAt'>('actions');

/** Gives accounts at model providers a credential that expires, a renewal that died, or an owner who left. */
export const changeAccounts = changer<
  | 'state'
  | 'publicError'
  | 'ownerId'
  | 'credential'
  | 'credentialExpiresAt'
  | 'credentialLifeSeconds'
  | 'renewalRefusals'
  | 'notBefore'
  | 'renewalLease'
  | 'renewalSentVersion'
  | 'renewalLeasedUntil'
  | 'catalogueFreshUntil'
  | 'catalogueLeasedUntil'
>('model_connections');

/** Gives projects a shorter retention, a budget, or a deletion some time ago. */
export const changeProjects = changer<
  'organizationId' | 'name' | 'deletedAt' | 'runContentDays' | 'runDays' | 'maxTokensPerDay' | 'maxCostUsdPerMonth'
>('projects');

/** Changes the plan of organizations, and their requirements. */
export const changeOrganizations = changer<
  'paidPlan' | 'paidUntil' | 'periodEnd' | 'requiresSecondFactor' | 'maxTokensPerDay' | 'maxCostUsdPerMonth'
>('organizations');

/** Sets webhook deliveries to due at once, or given up. */
export const changeDeliveries = changer<
  'runId' | 'state' | 'reason' | 'nextAttemptAt' | 'claimedUntil' | 'attemptCount'
>('webhook_deliveries');

/** Gives people an older account, or an unconfirmed address. */
export const changePeople = changer<'createdAt' | 'emailVerified'>('users');
export const removePeople = remover('users');

/** Sets API keys to used or expired some time ago. */
export const changeKeys = changer<'id' | 'projectId' | 'scopes' | 'lastUsedAt' | 'expiresAt' | 'revokedAt'>('api_keys');

/** Sets open sign-ins at model providers to due for the next poll, or expired. */
export const changeSignIns = changer<'nextPollAt' | 'expiresAt'>('model_sign_ins');

/** Changes steps of runs. */
export const changeSteps = changer<'runId' | 'index' | 'state'>('steps');

/** Changes the followers of runs, for example to one whose process is gone. */
export const changeFollowers = changer<'credential' | 'leasedUntil'>('run_followers');
export const removeFollowers = remover<'credential'>('run_followers');

/** Changes versions of routines, which the API cannot do: one gets a model that is gone. */
export const changeVersions = changer<
  'routineId' | 'definition' | 'instructions' | 'modelProvider' | 'modelId' | 'maxOutputTokens'
>('routine_versions', IN_DEFINITION);

/** Changes the baselines of gates. */
export const changeBaselines = changer<'routineId' | 'wokeAt'>('gate_baselines');
export const removeBaselines = remover<'routineId'>('gate_baselines');

/** Changes the reservations of calls under way. */
export const changeReservations = changer<'runId' | 'leasedUntil' | 'inputTokens' | 'inputCostUsd'>(
  'usage_reservations',
);

/** Changes breakers of models. */
export const changeBreakers = changer<'account' | 'pauseFrom' | 'pauseUntil'>('model_breakers');
export const removeBreakers = remover<'account'>('model_breakers');

/** Sets revocations at model providers to due at once, or given up. */
export const changeRevocations = changer<'connectionId' | 'nextAttemptAt' | 'giveUpAt'>('model_revocations');

/** Sets the lease on the model runtime to expired, or held by another process. */
export const changeRuntimeLease = changer<'epoch' | 'expiresAt'>('runtime_lease');
export const removeRuntimeLease = remover('runtime_lease');

/** Sets calls of models to under way, or ended. */
export const changeCalls = changer<'runId' | 'state' | 'failure' | 'endedAt'>('model_calls');

/** Sets customers of the payment processor to due for a look, or leased by a process that is gone. */
export const changeCustomers = changer<
  | 'organizationId'
  | 'syncRequested'
  | 'syncDone'
  | 'requestedAt'
  | 'syncedAt'
  | 'leasedUntil'
  | 'nextAttemptAt'
  | 'checkoutLeasedUntil'
>('billing_customers');

/** Changes the times at which subscriptions were first seen past due. */
export const changePastDue = changer<'subscriptionId' | 'since'>('billing_past_due');

/** Makes checkouts older, expired or closed. */
export const changeCheckouts = changer<'organizationId' | 'sessionId' | 'createdAt' | 'expiresAt' | 'closedAt'>(
  'billing_checkouts',
);

export const removeEncryptionChecks = remover('encryption_check');
export const removePeriodRuns = remover('period_runs');
/** Changes the numbers of runs that organizations have begun in a period. */
export const changePeriodRuns = changer<'organizationId' | 'runs'>('period_runs');

/** Changes the counts of requests under rate limits. */
export const changeRateLimits = changer<'credential' | 'count' | 'windowStart'>('rate_limits');

/** Sets idempotency keys to in use again, or abandoned. */
export const changeIdempotencyKeys = changer<'key' | 'status' | 'answer' | 'lockedUntil'>('idempotency_keys');

/** Makes sessions older, or brings their end nearer. */
export const changeSessions = changer<'userId' | 'createdAt' | 'expiresAt'>('sessions');

/** Lets invitations expire. */
export const changeInvitations = changer<'expiresAt'>('invitations');

/** Lets shared links expire. */
export const changeSharedLinks = changer<'expiresAt'>('shared_links');

/** Lets open sign-ins at the providers of connections expire. */
export const changeFlows = changer<'expiresAt'>('oauth_flows');

/** Sets terminals that wait for a person's consent to expired, or polled some time ago. */
export const changeTerminals = changer<'host' | 'expiresAt' | 'polledAt'>('terminal_sign_ins');

/** Sets tokens of assistants to expired, or valid for another resource. */
export const changeAssistantTokens = changer<'clientId' | 'expiresAt' | 'resources'>('oauth_access_tokens');
export const changeRefreshTokens = changer<'clientId' | 'rotatedAt' | 'rotationReplayExpiresAt'>(
  'oauth_refresh_tokens',
);
export const changeConsents = changer<'clientId' | 'updatedAt'>('oauth_consents');
export const changeAssistants = changer<'clientId' | 'disabled' | 'isDynamic' | 'name'>('oauth_clients');

/** Changes mails and pings that wait to be sent. */
export const changeMessages = changer<'state' | 'nextAttemptAt' | 'expiresAt'>('outbox');
export const removeMessages = remover('outbox');

/** Sets due work to due now, or attempted before. */
export const changeWork = changer<'kind' | 'key' | 'dueAt' | 'attempts' | 'failedAt'>('work');
export const removeWork = remover<'kind' | 'key'>('work');

/**
 * Claims messages as the previous release does: by the due time in a message's row, which is also the end of its lease.
 */
export function claimAsBefore(db: Db, limit: number): Promise<{ id: string }[]> {
  return db.rows`
    with free as materialized (
      select id from outbox where state = 'pending' and next_attempt_at <= now()
      order by next_attempt_at limit ${limit} for update skip locked
    )
    update outbox set attempts = attempts + 1, next_attempt_at = now() + interval '3 minutes'
    from free where outbox.id = free.id returning outbox.id
  `;
}

/** Sets digests of results to due at once, or to an earlier time that they cover. */
export const changeDigests = changer<'userId' | 'projectId' | 'nextAt' | 'coveredUntil' | 'lastDate'>('result_digests');

/** Changes the times at which mails about routines were sent. */
export const changeNotified = changer<'routineId' | 'mailedAt'>('notification_states');

/** Changes the usage of an organization, a project or a routine. */
export const changeTotals = changer<'scopeId' | 'dayTokens' | 'monthCostUsd'>('usage_totals');

/** Removes memberships, as an administrator would. */
export const removeMemberships = remover<'organizationId' | 'userId'>('memberships');

/** Removes accounts at model providers with their dependent rows. */
export const removeAccounts = remover('model_connections');

export const removeDeliveries = remover('webhook_deliveries');
export const removeAttempts = remover('webhook_attempts');
/** Changes the slots that workers have announced. */
export const changeWorkers = changer<'expiresAt'>('worker_slots');
export const removeWorkers = remover('worker_slots');

/** Sets back the time at which a person last proved their identity. */
export async function ageProofs(db: Db, userId: string, interval: string): Promise<void> {
  await db.run`update sessions set proven_at = proven_at - ${interval}::interval where user_id = ${userId}`;
}

/** Sets back the time at which a person last used a code of their authenticator. */
export async function ageCodes(db: Db, userId: string): Promise<void> {
  await db.run`update second_factors set last_step = last_step - 10 where user_id = ${userId}`;
}

/** Sets the tokens that an organization, a project or a routine has used today. */
export function spendToday(db: Db, scopeId: string, tokens: number): Promise<void> {
  return changeTotals(db, { scopeId }, { dayTokens: tokens });
}

/** Makes policies automatic, as if a person had confirmed each. */
export function confirmPolicies(db: Db, policies: Parameters<typeof changePolicies>[1]): Promise<void> {
  const confirmed = { confirmedHash: sql`definition_hash`, confirmedAt: AT_ONCE };
  return changePolicies(db, policies, { state: 'automatic', ...confirmed });
}

/** Sets back all counts of a rule, by its name in `rate_limits`. */
export async function ageCounts(db: Db, rule: string, interval: string): Promise<void> {
  await db.run`
    update rate_limits set window_start = window_start - ${interval}::interval
    where credential like ${`${rule}:%`}
  `;
}

/** Sets all counts of a rule, in windows that begin now. */
export async function fillCounts(db: Db, rule: string, count: number): Promise<void> {
  await db.run`
    update rate_limits set count = ${count}, window_start = now()
    where credential like ${`${rule}:%`}
  `;
}

/** Plants audit events of an organization, about a thousand targets in turn. */
export async function plantAuditEvents(db: Db, organizationId: string, count: number): Promise<void> {
  await db.run`
    insert into audit_events (id, organization_id, actor_kind, action, target_id)
    select 'aud_' || lpad(n::text, 26, '0'), ${organizationId}, 'system', 'routine.paused', 'target ' || n % 1000
    from generate_series(1, ${count}::integer) n
  `;
}

/** Makes an organization some days old, with this number of runs in its first period. */
export async function plantPeriod(
  db: Db,
  organizationId: string,
  { daysAgo, runs }: { daysAgo: number; runs: number },
): Promise<void> {
  await db.run`
    with aged as (
      update organizations set created_at = now() - ${daysAgo}::integer * interval '1 day'
      where id = ${organizationId} returning id, created_at
    )
    insert into period_runs (organization_id, period_start, runs) select id, created_at, ${runs} from aged
  `;
}

/** Ends the hours that limit a project's mails: those of its routines, of the whole project, and of held mails. */
export async function passProjectHour(db: Db, projectId: string): Promise<void> {
  await db.run`
    with routine as (
      update notification_states s set mailed_at = mailed_at - interval '61 minutes' from routines r
      where r.id = s.routine_id and r.project_id = ${projectId}
    ), held as (
      update outbox set created_at = created_at - interval '61 minutes' where project_id = ${projectId} and state = 'held'
    )
    update project_mail_turns set since = since - interval '61 minutes' where project_id = ${projectId}
  `;
}

/** Counts a run of an organization in this month, as the start of a run does. */
export async function countRun(db: Db, organizationId: string): Promise<void> {
  await db.run`
    insert into period_runs (organization_id, period_start, runs)
    values (${organizationId}, date_trunc('month', now(), 'utc'), 1)
    on conflict (organization_id, period_start) do update set runs = period_runs.runs + 1
  `;
}

/** Sets back the wait of a run for a budget; returns false if the run does not wait at the moment. */
export async function ageWait(db: Db, runId: string, interval: string): Promise<boolean> {
  const aged = await db.run`
    update runs set started_at = started_at - ${interval}::interval,
      waits_since = waits_since - ${interval}::interval
    where id = ${runId} and waits_since is not null
  `;
  return aged === 1;
}

/** Plants tool calls after the steps of a run, each with a result of this length. */
export async function plantToolCalls(
  database: Db,
  runId: string,
  { count, textLength }: { count: number; textLength: number },
): Promise<void> {
  await database.run`
    insert into steps (run_id, index, project_id, kind, state, tool, started_at, finished_at)
    select r.id, last.index + n, r.project_id, 'tool', 'succeeded', jsonb_build_object('name', 'read',
        'toolName', 'read', 'connectionId', null, 'connectionName', null, 'policyId', null, 'arguments', '{}', 'argumentsLength', 2,
        'isError', false, 'result', repeat('x', ${textLength}::integer), 'resultLength', ${textLength}::integer,
        'structured', null, 'structuredLength', null, 'attachments', '[]'::jsonb), now(), now()
    from runs r, (select max(index) as index from steps where run_id = ${runId}) last,
      generate_series(1, ${count}::integer) n
    where r.id = ${runId}
  `;
}

/** Makes a user a member of an organization, or changes a member's role, without an invitation. */
export async function giveRole(db: Db, organizationId: string, userId: string, role: string): Promise<void> {
  await db.run`
    insert into memberships (organization_id, user_id, role) values (${organizationId}, ${userId}, ${role})
    on conflict (user_id, organization_id) do update set role = excluded.role
  `;
}

/** Makes the next occurrence of an active routine due, and claims it with a tick. */
export async function fallDue({ deps }: Pick<Service, 'deps'>, routineId: string): Promise<void> {
  await changeRoutines(deps.database, routineId, { nextRunAt: AT_ONCE });
  await tick(deps);
}

/** Makes a scheduled run that a tick has claimed. The run waits while the service has no workers. */
export async function claimedRun(
  service: Service,
  key: ApiClient,
  fields: Record<string, unknown> = {},
): Promise<{ routineId: string; runId: string }> {
  const routineId = await createRoutine(key, { schedule: '@yearly', ...fields });
  return { routineId, runId: await claimRunOf(service, key, routineId) };
}

/** Activates a draft as if a manual run of it had succeeded, and claims an occurrence with a tick. */
export async function claimRunOf(service: Service, key: ApiClient, routineId: string): Promise<string> {
  await plantRun(service.deps.database, routineId, { state: 'succeeded' });
  const active = await key.post(`/v1/routines/${routineId}/activate`);
  if (active.status !== 200) throw new Error(JSON.stringify(active.body));
  await fallDue(service, routineId);
  // Wait for the runs that the claim admits in the background: they must not use the slots that a test announces next.
  await service.deps.admission.idle();
  const [run] = (await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
  if (run?.state !== 'queued') throw new Error(`the claimed run is ${run?.state}`);
  return run.id;
}

/** Makes the database look like one of a checkout before the first release. */
export async function makeFormer(database: Db): Promise<void> {
  await database.run`update migrations set name = 'former_' || name where name like '0001%'`;
}

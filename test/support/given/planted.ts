/** Plants whole rows other than runs. */
import { SYSTEM } from '#core/foundation/audit/index.ts';
import { insertConnection } from '#core/integrations/connections/store/queries.ts';
import { definitionForm } from '#core/authoring/definition/index.ts';
import { insertVersions } from '#core/authoring/routines/versions.ts';
import { AT_ONCE, sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { Service } from '#test/support/service.ts';
import { plant, type Values } from './rows.ts';

/** Plants active routines with their first versions, by default due each minute. */
export async function plantActiveRoutines(
  db: Db,
  projectId: string,
  ids: readonly string[],
  {
    modelProvider = 'gateway',
    modelId = 'fixture/writer-small',
    ...fields
  }: Values<
    | 'schedule'
    | 'timezone'
    | 'overlap'
    | 'misfire'
    | 'maxTokensPerDay'
    | 'maxCostUsdPerMonth'
    | 'nextRunAt'
    | 'startsAt'
    | 'endsAt'
    | 'skipDates'
    | 'jitterSeconds'
  > & { readonly modelProvider?: string; readonly modelId?: string },
): Promise<void> {
  const definition = storedDefinition({
    instructions: 'Write.',
    model: { provider: modelProvider, connectionId: null, modelId },
    limits: { maxSteps: 5, timeoutSeconds: 60 },
  });
  const values = {
    id: sql`planted.id`,
    projectId,
    name: 'Planted',
    definition: sql`${definition}::jsonb`,
    schedule: '* * * * *',
    timezone: 'UTC',
    state: 'active',
    ...fields,
  };
  await plant(db, 'routines', values, sql`from unnest(${ids}::text[]) as planted (id)`);
  const written = sql`select * from routines where id = any(${ids})`;
  await db.run`with written as (${written}) ${insertVersions({ actor: null })}`;
}

/** Writes a definition as a routine stores it, with defaults for missing fields. */
function storedDefinition(fields: object): string {
  const { value, blocked } = definitionForm.read(fields);
  if (blocked !== null) throw new Error(blocked);
  return definitionForm.write(value);
}

/** Plants versions of a routine that equal its first one. */
export function plantVersions(
  db: Db,
  routineId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const values = {
    routineId,
    revision: sql`n`,
    projectId: sql`v.project_id`,
    definition: sql`v.definition`,
    tools: sql`v.tools`,
    changed: sql`v.changed`,
  };
  const versions = sql`
    from routine_versions v, generate_series(${from}::integer, ${to}::integer) n
    where v.routine_id = ${routineId} and v.revision = 1
  `;
  return plant(db, 'routine_versions', values, versions);
}

/** Plants deliveries of a routine's webhook, by default one that has arrived. */
export async function plantDeliveries(
  db: Db,
  routineId: string,
  {
    count = 1,
    ...fields
  }: Values<'runId' | 'host' | 'eventType' | 'body' | 'state' | 'attemptCount' | 'nextAttemptAt' | 'finishedAt'> & {
    readonly count?: number;
  } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('delivery'));
  const values = {
    id: sql`planted.id`,
    organizationId: sql`p.organization_id`,
    host: '',
    projectId: sql`p.id`,
    routineId,
    eventType: 'run.succeeded',
    body: '{}',
    state: 'delivered',
    ...fields,
  };
  const from = sql`
    from routines r join projects p on p.id = r.project_id, unnest(${ids}::text[]) as planted (id)
    where r.id = ${routineId}
  `;
  await plant(db, 'webhook_deliveries', values, from);
  return ids;
}

/** Plants the first attempt at a delivery. The attempt got an error. */
export async function plantAttempt(db: Db, deliveryId: string): Promise<void> {
  await plant(db, 'webhook_attempts', {
    deliveryId,
    index: 1,
    startedAt: sql`now()`,
    status: 500,
    responseExcerpt: 'a response',
  });
}

/** Plants accounts at a model provider, by default without a credential. */
export async function plantAccounts(
  db: Db,
  projectId: string,
  {
    count = 1,
    id,
    ...fields
  }: Values<
    'ownerId' | 'provider' | 'providerName' | 'providerIdentity' | 'state' | 'credential' | 'validatedAt' | 'revokedAt'
  > & { readonly count?: number; readonly id?: string } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => id ?? newId('modelConnection'));
  const values = {
    id: sql`planted.id`,
    projectId,
    ownerId: 'unknown',
    provider: 'provider-c',
    providerName: 'Planted',
    providerIdentity: 'planted',
    accountId: sql`planted.id`,
    accountLabel: 'Planted',
    state: 'ready',
    ...fields,
  };
  await plant(db, 'model_connections', values, sql`from unnest(${ids}::text[]) as planted (id)`);
  return ids;
}

/** Plants the breaker of a model. */
export async function plantBreaker(
  db: Db,
  account: string,
  fields: Values<'failures' | 'failedAt' | 'pauseFrom' | 'pauseUntil'>,
): Promise<void> {
  await plant(db, 'model_breakers', { account, ...fields });
}

/** Plants the number of runs that an organization has begun in a period. */
export async function plantPeriodRuns(db: Db, organizationId: string, periodStart: Date, runs: number): Promise<void> {
  await plant(db, 'period_runs', { organizationId, periodStart, runs });
}

/** Plants an open checkout of an organization, as an unfinished request leaves it. */
export async function plantCheckout(db: Db, organizationId: string, sessionId: string): Promise<void> {
  const expiresAt = sql`now() + interval '30 minutes'`;
  await plant(db, 'billing_checkouts', { sessionId, organizationId, plan: 'starter', expiresAt });
}

/** Plants projects in an organization, each called "Planted". */
export async function plantProjects(db: Db, organizationId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('project'));
  const values = { id: sql`planted.id`, organizationId, name: 'Planted' };
  await plant(db, 'projects', values, sql`from unnest(${ids}::text[]) as planted (id)`);
  return ids;
}

/** Plants an organization with a project and without members. */
export async function plantOrganization(db: Db): Promise<{ organizationId: string; projectId: string }> {
  const organizationId = newId('organization');
  await plant(db, 'organizations', { id: organizationId, name: 'Planted' });
  const [projectId] = await plantProjects(db, organizationId, 1);
  return { organizationId, projectId: projectId! };
}

/** Plants mails to a user that wait to be sent. */
export async function plantMails(
  db: Db,
  { organizationId, projectId, userId }: Record<'organizationId' | 'projectId' | 'userId', string>,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('message'));
  const values = {
    id: sql`planted.id`,
    channel: 'mail',
    kind: 'failed',
    organizationId,
    projectId,
    userId,
    content: '{"subject": "Planted", "lines": []}',
    state: 'pending',
  };
  const from = sql`from unnest(${ids}::text[]) as planted (id)`;
  await plant(db, 'outbox', { ...values, nextAttemptAt: sql`'infinity'` }, from);
  await plant(db, 'work', { kind: 'mail', key: sql`planted.id`, turn: organizationId, dueAt: AT_ONCE }, from);
  return ids;
}

/** Plants skills in a project. */
export async function plantSkills(db: Db, projectId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('skill'));
  const values = {
    id: sql`planted.id`,
    projectId,
    name: 'planted',
    instructions: 'Keep it short, please.',
  };
  await plant(db, 'skills', values, sql`from unnest(${ids}::text[]) as planted (id)`);
  return ids;
}

/** Plants API keys in a project. No token belongs to them. */
export async function plantKeys(
  db: Db,
  projectId: string,
  count: number,
  fields: Values<'revokedAt'> = {},
): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('apiKey'));
  const unusable = { prefix: sql`planted.id`, hash: '', scopes: ['models:read'] };
  const values = { id: sql`planted.id`, projectId, name: 'Planted', ...unusable, ...fields };
  await plant(db, 'api_keys', values, sql`from unnest(${ids}::text[]) as planted (id)`);
}

/** Plants tool servers that are never called. */
export async function plantConnections(db: Db, projectId: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('connection'));
  const server = { kind: 'tool_server', url: 'https://tools.example.com/', auth: 'none' };
  const values = { id: sql`planted.id`, projectId, name: 'Planted', state: 'ready', ...server };
  await plant(db, 'connections', values, sql`from unnest(${ids}::text[]) as planted (id)`);
}

/**
 * Plants a connected tool server with its sealed token, without a request to the server. Without a token the server's
 * credentials come from a managed provider.
 */
export async function plantConnection(
  { deps: { database, connectionSecrets } }: Pick<Service, 'deps'>,
  projectId: string,
  { id, url, token }: { id: string; url: string; token?: string },
): Promise<void> {
  await insertConnection(database, connectionSecrets, SYSTEM, {
    id,
    projectId,
    kind: 'tool_server',
    provider: null,
    name: 'Planted',
    url,
    auth: token === undefined ? 'oauth' : 'bearer',
    accountLabel: null,
    scopes: [],
    server: null,
    state: 'ready',
    publicError: null,
    createdBy: null,
    checkedAt: null,
    sealedCredentials: token === undefined ? null : connectionSecrets.seal(id, { token }),
  });
}

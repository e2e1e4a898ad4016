import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { addWork, type Kinds, type WorkOutcome, type RequestKind } from '#core/foundation/work/index.ts';
import type { ModelProviders, ModelRuntime } from '#core/models/providers/index.ts';
import { AT_ONCE, transaction, sql, type Db } from '#lib/database/index.ts';
import { now } from '#lib/clock.ts';
import { CallFailure } from '#lib/envelope/index.ts';
import { AppError } from '#lib/errors.ts';
import { RuntimeUnreachable } from '#lib/runtime-client/index.ts';
import type { ModelConnectionRef } from './connection.ts';
import type { AccountsCore } from './core.ts';
import type { CallCredential, ModelCredentials } from './credentials.ts';
import { adoptRevocations, revocationKind } from './revoke.ts';
import { sweepAttempts } from './sign-in/attempt-queries.ts';
import { findUsableConnection, isUsable, markNotReady, readModelConnection } from './store/queries.ts';

type CatalogueCore = Pick<AccountsCore, 'database' | 'log' | 'modelProviders' | 'modelRuntime'> & {
  readonly modelCredentials: ModelCredentials;
};

const CALL_MS = 30_000;

/** Returns the kinds of queued work that ask the providers of accounts. */
export function accountKinds(deps: CatalogueCore & AccountsCore): Kinds {
  return { revocation: revocationKind(deps), catalogue: catalogueKind(deps) };
}

/**
 * Fetches catalogues in the background, so that no request waits for a provider. If that fails, an account keeps its
 * last catalogue.
 */
function catalogueKind(deps: CatalogueCore): RequestKind | undefined {
  const { modelRuntime: runtime } = deps;
  if (runtime === undefined) return undefined;
  return {
    // Leave room for calls of runs, which matter more: the runtime takes eight calls at a time.
    batch: 2,
    waitsMs: [],
    attempt: ({ key, payload }, signal) => refresh(deps, runtime, { id: key, ...inProject.parse(payload) }, signal),
    // A catalogue that could not be fetched needs no record: it is queued again after its pause.
    ended: () => Promise.resolve(),
  };
}

const inProject = z.object({ projectId: z.string() });

async function refresh(
  deps: CatalogueCore,
  runtime: ModelRuntime,
  ref: ModelConnectionRef,
  signal: AbortSignal = new AbortController().signal,
): Promise<WorkOutcome> {
  try {
    const models = await fetchModels(deps, runtime, ref, signal);
    await transaction(deps.database, (tx) => recordCatalogue(tx, ref, models));
    return { state: 'done' };
  } catch (error) {
    signal.throwIfAborted();
    const isExpected = error instanceof CallFailure || error instanceof RuntimeUnreachable || error instanceof AppError;
    if (!isExpected) throw error;
    deps.log.warn({ connectionId: ref.id, name: error.name, message: error.message }, 'a catalogue was not refreshed');
    return { state: 'cancelled', error: error.message };
  }
}

async function fetchModels(
  deps: CatalogueCore,
  runtime: ModelRuntime,
  ref: ModelConnectionRef,
  signal: AbortSignal,
): Promise<readonly CatalogueModel[]> {
  const { modelCredentials } = deps;
  const deadline = now() + CALL_MS;
  const first = await modelCredentials.forCall(ref, { deadline, signal });
  try {
    return await askProvider(deps, runtime, ref, first, deadline, signal);
  } catch (error) {
    const renewed = isRefusal(error) ? await modelCredentials.refused(ref, first.version, signal) : undefined;
    if (renewed === undefined) throw error;
    try {
      return await askProvider(deps, runtime, ref, renewed, deadline, signal);
    } catch (second) {
      // The provider refused the renewed credential too, so the account is no longer ready.
      if (isRefusal(second)) await markNotReady(deps.database, ref, renewed.version, 'authorization_revoked');
      throw second;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof CallFailure && error.code === 'credential_refused';
}

async function askProvider(
  { database, modelProviders }: CatalogueCore,
  runtime: ModelRuntime,
  ref: ModelConnectionRef,
  { credential, version }: CallCredential,
  deadline: number,
  signal: AbortSignal,
): Promise<readonly CatalogueModel[]> {
  const account = await findUsableConnection(database, modelProviders, ref.projectId, ref.id);
  if (account === undefined) throw new AppError('connection_not_ready');
  const provider = modelProviders.require(account.provider);
  const { models } = await runtime.client.catalog({
    lease: await runtime.lease(),
    requestId: `catalog/${randomUUID()}`,
    provider: provider.slot,
    fileHash: provider.hash,
    projectId: ref.projectId,
    connectionId: ref.id,
    credential,
    credentialVersion: version,
    deadline,
    signal,
  });
  return models;
}

/** A model that an account offers. */
export interface CatalogueModel {
  readonly id: string;
  readonly name: string;
  readonly contextTokens: number | null;
}

const FRESH_SECONDS = 15 * 60;

/** Replaces the catalogue of an account, in the caller's transaction. */
export async function recordCatalogue(
  tx: Db,
  { id, projectId }: ModelConnectionRef,
  models: readonly CatalogueModel[],
): Promise<void> {
  const touched = await tx.run`
    update model_connections set catalogue_fetched_at = now(), catalogue_leased_until = null,
      catalogue_fresh_until = now() + make_interval(secs => ${FRESH_SECONDS}::integer)
    where id = ${id} and project_id = ${projectId} and state <> 'revoked'
  `;
  if (touched === 0) return;
  await tx.run`delete from model_connection_models where connection_id = ${id}`;
  await tx.run`
    insert into model_connection_models (connection_id, position, model_id, name, context_tokens)
    select ${id}, position, model_id, name, context_tokens
    from unnest(${models.map((model) => model.id)}::text[], ${models.map((model) => model.name)}::text[],
        ${models.map((model) => model.contextTokens)}::integer[]) with ordinality
      as given (model_id, name, context_tokens, position)
    on conflict do nothing
  `;
}

export interface OfferedModel extends CatalogueModel {
  readonly provider: string;
  readonly connectionId: string;
}

/** Lists the models of the accounts that may be used now: of all accounts of a project, or of one account. */
export function listOfferedModels(
  db: Db,
  providers: ModelProviders,
  projectId: string,
  connectionId?: string,
): Promise<OfferedModel[]> {
  const one = connectionId === undefined ? sql`` : sql`and c.id = ${connectionId}`;
  return db.rows<OfferedModel>`
    select m.model_id as id, m.name, m.context_tokens as "contextTokens", c.provider, c.id as "connectionId"
    from model_connections c join model_connection_models m on m.connection_id = c.id
    where c.project_id = ${projectId} ${one} and ${isUsable(providers)}
    order by c.id, m.position
  `;
}

/**
 * Lists the models of one account.
 * @throws {AppError} `connection_not_found`, `provider_disabled`, `connection_not_ready`
 */
export async function listModelsOfAccount(
  db: Db,
  providers: ModelProviders,
  projectId: string,
  connectionId: string,
): Promise<OfferedModel[]> {
  const { provider } = await readModelConnection(db, projectId, connectionId);
  providers.require(provider);
  if ((await findUsableConnection(db, providers, projectId, connectionId)) === undefined) {
    throw new AppError('connection_not_ready');
  }
  return listOfferedModels(db, providers, projectId, connectionId);
}

/** Pause after which a catalogue that was queued and is still not fresh is queued again. */
const PAUSE = sql`interval '5 minutes'`;

/** Queues the catalogues that are no longer fresh. Accounts that cannot be used are skipped. */
async function queueStaleCatalogues(db: Db, providers: ModelProviders): Promise<void> {
  if (providers.enabled.length === 0) return;
  await db.run`
    with stale as (
      update model_connections set catalogue_leased_until = now() + ${PAUSE}
      where id in (
        select c.id from model_connections c
        where ${isUsable(providers)} and (c.catalogue_fresh_until is null or c.catalogue_fresh_until <= now())
          and (c.catalogue_leased_until is null or c.catalogue_leased_until <= now())
        for update skip locked)
      returning id, project_id, catalogue_fresh_until
    )
    ${addWork(sql`select 'catalogue', id, project_id, coalesce(catalogue_fresh_until, ${AT_ONCE}),
      jsonb_build_object('projectId', project_id) from stale`)}
  `;
}

/** Ends sign-ins that have run out, adopts revocations of the previous release, and queues stale catalogues. */
export async function sweepModelConnections({
  database,
  modelProviders,
}: Pick<AccountsCore, 'database' | 'modelProviders'>): Promise<void> {
  await sweepAttempts(database);
  await adoptRevocations(database);
  await queueStaleCatalogues(database, modelProviders);
}

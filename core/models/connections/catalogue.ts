import { randomUUID } from 'node:crypto';
import type { ModelProviders, ModelRuntime } from '#core/models/providers/index.ts';
import { now } from '#lib/clock.ts';
import { transaction, sql, type Db } from '#lib/database/index.ts';
import { CallFailure } from '#lib/envelope/index.ts';
import { AppError } from '#lib/errors.ts';
import { RuntimeUnreachable } from '#lib/runtime-client/index.ts';
import type { ModelConnectionRef } from './connection.ts';
import type { AccountsCore } from './core.ts';
import type { CallCredential, ModelCredentials } from './credentials.ts';
import { findUsableConnection, isUsable, markNotReady, readModelConnection } from './store/queries.ts';

type CatalogueCore = Pick<AccountsCore, 'database' | 'log' | 'modelProviders' | 'modelRuntime'> & {
  readonly modelCredentials: ModelCredentials;
};

/** Few at a time: the runtime takes eight calls, and those of runs matter more. */
const AT_A_TIME = 2;
const CALL_MS = 30_000;
/** Duration of one round; the next one goes on with those that have waited longest. */
const ROUND_MS = 45_000;

/**
 * Fetches the catalogues that are no longer fresh, in the background, so that no request waits for a provider. An
 * account whose catalogue cannot be fetched keeps the last one.
 * @returns how many were fetched
 */
export async function refreshCatalogues(deps: CatalogueCore, signal: AbortSignal): Promise<number> {
  const { database, modelProviders, modelRuntime: runtime } = deps;
  if (runtime === undefined || modelProviders.enabled.length === 0) return 0;
  const end = performance.now() + ROUND_MS;
  let fetched = 0;
  while (performance.now() < end) {
    signal.throwIfAborted();
    const stale = await claimStaleCatalogues(database, modelProviders, AT_A_TIME);
    if (stale.length === 0) break;
    const refreshed = await Promise.all(stale.map((ref) => refresh(deps, runtime, ref, signal)));
    fetched += refreshed.filter(Boolean).length;
  }
  return fetched;
}

async function refresh(
  deps: CatalogueCore,
  runtime: ModelRuntime,
  ref: ModelConnectionRef,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, log } = deps;
  try {
    const models = await fetchModels(deps, runtime, ref, signal);
    await transaction(database, (tx) => recordCatalogue(tx, ref, models));
    return true;
  } catch (error) {
    signal.throwIfAborted();
    // An error is this account's alone: one whose credential cannot be opened does not hold up the others.
    if (isExpected(error)) {
      const { name, message } = error;
      log.warn({ connectionId: ref.id, name, message }, 'a catalogue was not refreshed');
    } else {
      log.error({ connectionId: ref.id, err: error }, 'a catalogue could not be refreshed');
    }
    await postponeCatalogue(database, ref);
    return false;
  }
}

/** Tells whether the provider, the runtime or the account's state explains an error; any other is our own. */
function isExpected(error: unknown): error is Error {
  return error instanceof CallFailure || error instanceof RuntimeUnreachable || error instanceof AppError;
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
      // Refused twice, with a renewal in between.
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

/** Seconds for which a catalogue is fresh. */
const FRESH_SECONDS = 15 * 60;
/** Seconds until the next attempt, where one has failed. */
const POSTPONED_SECONDS = 5 * 60;

/** Puts the catalogue of an account in place of the one before, in a transaction of the caller's. */
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

/** The account keeps the catalogue that it has. */
async function postponeCatalogue(db: Db, { id, projectId }: ModelConnectionRef): Promise<void> {
  await db.run`
    update model_connections set catalogue_leased_until = now() + make_interval(secs => ${POSTPONED_SECONDS}::integer)
    where id = ${id} and project_id = ${projectId}
  `;
}

export interface OfferedModel extends CatalogueModel {
  readonly provider: string;
  readonly connectionId: string;
}

/** Lists the models of the accounts that may be used now: all of a project, or those of one. */
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

/**
 * Takes accounts whose catalogue is no longer fresh, each for a minute, so that one process refreshes it. Accounts that
 * cannot be used are passed over.
 */
function claimStaleCatalogues(db: Db, providers: ModelProviders, limit: number): Promise<ModelConnectionRef[]> {
  return db.rows<ModelConnectionRef>`
    update model_connections set catalogue_leased_until = now() + interval '1 minute'
    where id in (
      select c.id from model_connections c
      where ${isUsable(providers)} and (c.catalogue_fresh_until is null or c.catalogue_fresh_until <= now())
        and (c.catalogue_leased_until is null or c.catalogue_leased_until <= now())
      order by c.catalogue_fresh_until nulls first limit ${limit} for update skip locked)
    returning id, project_id as "projectId"
  `;
}

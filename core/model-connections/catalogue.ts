import { randomUUID } from 'node:crypto';
import { transaction, type Database } from '#lib/database/index.ts';
import { CallFailure } from '#lib/envelope/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { RuntimeUnreachable } from '#lib/runtime-client/index.ts';
import type { ModelConnectionRef } from './connection.ts';
import type { CallCredential, ModelCredentials } from './credentials.ts';
import type { ModelProviders } from './providers/providers.ts';
import type { ModelRuntime } from './runtime/runtime.ts';
import {
  claimStaleCatalogues,
  postponeCatalogue,
  recordCatalogue,
  type CatalogueModel,
} from './store/catalogue.ts';
import { findUsableConnection } from './store/queries.ts';

export interface CatalogueDeps {
  readonly database: Database;
  readonly modelProviders: ModelProviders;
  readonly modelRuntime: ModelRuntime | undefined;
  readonly modelCredentials: ModelCredentials;
  readonly log: Log;
}

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
export async function refreshCatalogues(deps: CatalogueDeps, signal: AbortSignal): Promise<number> {
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
  deps: CatalogueDeps,
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
  return (
    error instanceof CallFailure || error instanceof RuntimeUnreachable || error instanceof AppError
  );
}

async function fetchModels(
  deps: CatalogueDeps,
  runtime: ModelRuntime,
  ref: ModelConnectionRef,
  signal: AbortSignal,
): Promise<readonly CatalogueModel[]> {
  const { modelCredentials } = deps;
  const deadline = Date.now() + CALL_MS;
  const first = await modelCredentials.forCall(ref, { deadline, signal });
  try {
    return await askProvider(deps, runtime, ref, first, deadline, signal);
  } catch (error) {
    const refused = error instanceof CallFailure && error.code === 'credential_refused';
    const renewed = refused
      ? await modelCredentials.refused(ref, first.version, signal)
      : undefined;
    if (renewed === undefined) throw error;
    return askProvider(deps, runtime, ref, renewed, deadline, signal);
  }
}

async function askProvider(
  { database, modelProviders }: CatalogueDeps,
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

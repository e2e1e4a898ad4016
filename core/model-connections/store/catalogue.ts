import { execute, rows, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ModelConnectionRef } from '../connection.ts';
import type { ModelProviders } from '../providers/providers.ts';
import { findUsableConnection, isUsable, readModelConnection } from './queries.ts';

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
  const touched = await execute(
    tx,
    sql`
      update model_connections set catalogue_fetched_at = now(), catalogue_leased_until = null,
        catalogue_fresh_until = now() + make_interval(secs => ${FRESH_SECONDS}::integer)
      where id = ${id} and project_id = ${projectId} and state <> 'revoked'
    `,
  );
  if (touched === 0) return;
  await execute(tx, sql`delete from model_connection_models where connection_id = ${id}`);
  await execute(
    tx,
    sql`
      insert into model_connection_models (connection_id, position, model_id, name, context_tokens)
      select ${id}, position, model_id, name, context_tokens
      from unnest(${models.map((model) => model.id)}::text[], ${models.map((model) => model.name)}::text[],
          ${models.map((model) => model.contextTokens)}::integer[]) with ordinality
        as given (model_id, name, context_tokens, position)
      on conflict do nothing
    `,
  );
}

/** Puts off the next attempt at a catalogue that could not be fetched. The account keeps the last. */
export async function postponeCatalogue(
  db: Db,
  { id, projectId }: ModelConnectionRef,
): Promise<void> {
  await execute(
    db,
    sql`
      update model_connections set catalogue_leased_until = now() + make_interval(secs => ${POSTPONED_SECONDS}::integer)
      where id = ${id} and project_id = ${projectId}
    `,
  );
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
  return rows<OfferedModel>(
    db,
    sql`
      select m.model_id as id, m.name, m.context_tokens as "contextTokens", c.provider, c.id as "connectionId"
      from model_connections c join model_connection_models m on m.connection_id = c.id
      where c.project_id = ${projectId} ${one} and ${isUsable(providers)}
      order by c.id, m.position
    `,
  );
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
export function claimStaleCatalogues(
  db: Db,
  providers: ModelProviders,
  limit: number,
): Promise<ModelConnectionRef[]> {
  return rows<ModelConnectionRef>(
    db,
    sql`
      update model_connections set catalogue_leased_until = now() + interval '1 minute'
      where id in (
        select c.id from model_connections c
        where ${isUsable(providers)} and (c.catalogue_fresh_until is null or c.catalogue_fresh_until <= now())
          and (c.catalogue_leased_until is null or c.catalogue_leased_until <= now())
        order by c.catalogue_fresh_until nulls first limit ${limit} for update skip locked)
      returning id, project_id as "projectId"
    `,
  );
}

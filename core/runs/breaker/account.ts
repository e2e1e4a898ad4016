import { sql, type Sql } from '#lib/database/index.ts';

/**
 * Returns the model account that a run or a routine uses, as an SQL expression: a personal connection, or one model of
 * the managed gateway, whose models come from different providers and fail apart from each other.
 * @param relation alias of a row with the columns `model_connection_id`, `model_provider` and `model_id`
 */
export function accountOf(relation: Sql): Sql {
  return sql`coalesce(${relation}.model_connection_id, ${relation}.model_provider || '/' || ${relation}.model_id)`;
}

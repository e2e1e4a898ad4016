import { sql, type Sql } from '#lib/database/index.ts';

/**
 * Returns an SQL condition that is true when an organization demands a second factor that a person lacks.
 * @param organization alias of a row of `organizations`
 * @param userId id of the person, a value or a column
 */
export function lacksSecondFactor(organization: Sql, userId: string | Sql): Sql {
  return sql`(${organization}.requires_second_factor and not exists (
    select from second_factors f where f.user_id = ${userId} and f.confirmed_at is not null))`;
}

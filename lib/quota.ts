import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/** A fixed limit, so that no list grows without end. */
export interface Quota {
  readonly holder?: 'project' | 'organization';
  /** Query for the rows that count; its columns do not matter. */
  readonly counted: Sql;
  readonly max: number;
  /** Name of the limited resource, such as `routines`. */
  readonly what: string;
  /** Says how to make room, as an imperative. */
  readonly remedy?: string;
}

/**
 * Checks that a project or an organization may have one more resource. Takes no lock: the limits are far above every
 * need, and concurrent requests can exceed a limit only by their number.
 * @throws {AppError} `limit_reached`
 */
export async function assertWithinQuota(
  db: Db,
  { holder = 'project', counted, max, what, remedy = 'remove one first' }: Quota,
): Promise<void> {
  const found = await db.row<{
    count: number;
  }>`select count(*) as count from (${counted} limit ${max}) as counted`;
  if ((found?.count ?? 0) < max) return;
  const whose = holder === 'project' ? 'A project' : 'An organization';
  throw new AppError('limit_reached', `${whose} has at most ${max} ${what}; ${remedy}.`);
}

/** Two limits for resources whose rows are kept after their end: one for live resources, and one for all rows. */
export interface KeptQuota extends Pick<Quota, 'holder'> {
  /** Query for all rows, with a `where` that can be extended; its columns do not matter. */
  readonly all: Sql;
  readonly ever: Pick<Quota, 'max' | 'what'>;
  readonly live: { readonly where: Sql } & Omit<Quota, 'holder' | 'counted'>;
}

/** Checks both limits, as `assertWithinQuota` does. @throws {AppError} `limit_reached` */
export async function assertWithinKeptQuota(
  db: Db,
  { holder = 'project', all, ever, live: { where, ...live } }: KeptQuota,
): Promise<void> {
  await assertWithinQuota(db, { holder, counted: all, ...ever, remedy: `use another ${holder}` });
  await assertWithinQuota(db, { holder, counted: sql`${all} and ${where}`, ...live });
}

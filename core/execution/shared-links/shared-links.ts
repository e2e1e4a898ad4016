import { hash, randomBytes } from 'node:crypto';
import { authorJson, recordProjectAudit, type Actor, type Author } from '#core/foundation/audit/index.ts';
import { assertWithinLimit, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import { readEndedResult, readRun, type Run, type RunDetail } from '#core/execution/runs/index.ts';
import { sql, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { isJsonObject } from '#lib/json.ts';
import { assertWithinQuota } from '#lib/quota.ts';

/** A link that shows one result, without a sign-in, to everyone who has it. */
export interface SharedLink {
  readonly id: string;
  readonly runId: string;
  /** Person or API key that made the link; null if the account or the key is gone. */
  readonly createdBy: Author | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Number of views by this link, and the time of the last one. */
  readonly views: number;
  readonly lastSeenAt: Date | null;
}

interface Place {
  readonly projectId: string;
  readonly runId: string;
}

export const LONGEST_DAYS = 90;

/** The most valid links of one result. */
const MAX_LINKS = 20;

/** Guesses of 256 bits fail even without a limit; this limit bounds the load that a network can cause. */
const OPENINGS: ThrottleRule = { name: 'shared-link', limit: 60, windowSeconds: 60 };

/** SQL condition on a link `l` and its project `p`: the link still works. */
const holds = sql`l.expires_at > now() and l.created_at >= p.shared_links_since and p.deleted_at is null`;

const columns = sql`l.id, l.run_id as "runId", l.created_at as "createdAt", l.expires_at as "expiresAt", l.views,
  l.last_seen_at as "lastSeenAt",
  ${authorJson({ createdBy: sql`l.created_by`, projectId: sql`l.project_id` })} as "createdBy"`;

/**
 * Creates a link and returns its token. Only the hash of the token is stored.
 * @throws {AppError} `sharing_disabled`, `run_not_found`, `run_not_finished`, `content_erased`, `run_without_result`,
 * `limit_reached`
 */
export function createSharedLink(
  database: Database,
  by: Actor,
  { id, projectId, runId, days }: Place & { readonly id: string; readonly days: number },
): Promise<{ readonly link: SharedLink; readonly token: string }> {
  const token = randomBytes(32).toString('base64url');
  return transaction(database, async (tx) => {
    const allowed = await tx.row`
      select 1 from projects where id = ${projectId} and shared_links_since is not null for share
    `;
    if (allowed === undefined) throw new AppError('sharing_disabled');
    await readEndedResult(tx, projectId, runId);
    const counted = sql`select from shared_links
      where run_id = ${runId} and project_id = ${projectId} and expires_at > now() and id <> ${id}`;
    await assertWithinQuota(tx, { counted, max: MAX_LINKS, what: 'links to one result' });
    // If an earlier response was lost, the id exists already: replace its token, which no one has seen.
    const link = await tx.rowOr<SharedLink>('internal_error')`
      insert into shared_links as l (id, project_id, run_id, token_hash, created_by, expires_at)
      values (${id}, ${projectId}, ${runId}, ${hashOf(token)}, ${by.id},
        now() + make_interval(days => ${days}::integer))
      on conflict (id) do update set token_hash = excluded.token_hash where l.project_id = excluded.project_id
      returning ${columns}
    `;
    const details = { runId, expiresAt: link.expiresAt.toISOString() };
    await recordProjectAudit(tx, { by, projectId, action: 'result.shared', targetId: id, details });
    return { link, token };
  });
}

/** Lists the links of a result that still work, the newest first. @throws {AppError} `run_not_found` */
export async function listSharedLinks(db: Db, { projectId, runId }: Place): Promise<SharedLink[]> {
  await readRun(db, projectId, runId);
  return db.rows<SharedLink>`
    select ${columns} from shared_links l join projects p on p.id = l.project_id
    where l.run_id = ${runId} and l.project_id = ${projectId} and ${holds} order by l.id desc
  `;
}

/** Deletes a link, which ends it at once. @throws {AppError} `link_not_found` */
export function deleteSharedLink(
  database: Database,
  by: Actor,
  { id, projectId, runId }: Place & { readonly id: string },
): Promise<SharedLink> {
  return transaction(database, async (tx) => {
    const link = await tx.rowOr<SharedLink>('link_not_found')`
      delete from shared_links l where l.id = ${id} and l.run_id = ${runId} and l.project_id = ${projectId}
      returning ${columns}
    `;
    const details = { runId, views: link.views };
    await recordProjectAudit(tx, { by, projectId, action: 'result.unshared', targetId: id, details });
    return link;
  });
}

/** A result as a link shows it, without its prompt, steps and costs. */
export interface SharedResult
  extends
    Pick<Run, 'state' | 'outcome' | 'outcomeSummary' | 'result' | 'data' | 'finishedAt'>,
    Pick<RunDetail, 'routineName' | 'resultSchema'>,
    Pick<SharedLink, 'expiresAt'> {}

/**
 * Reads a result by the token of a link, and counts the view. Every link that shows nothing gets the same error.
 * @param network network of the caller, whose attempts are limited
 * @throws {AppError} `link_not_found`, `rate_limited`
 */
export async function openSharedLink(db: Db, token: string, network: string): Promise<SharedResult> {
  await assertWithinLimit(db, OPENINGS, network);
  const link = await db.rowOr<Place & Pick<SharedLink, 'expiresAt'>>('link_not_found')`
    update shared_links l set views = l.views + 1, last_seen_at = now()
    from projects p join runs r on r.project_id = p.id
    where l.token_hash = ${hashOf(token)} and p.id = l.project_id and ${holds}
      and r.id = l.run_id and r.content_erased_at is null
    returning l.project_id as "projectId", l.run_id as "runId", l.expires_at as "expiresAt"
  `;
  const { resultSchema, ...run } = await readEndedResult(db, link.projectId, link.runId);
  return { ...run, resultSchema: withoutDescriptions(resultSchema), expiresAt: link.expiresAt };
}

export async function forgetSharedLinks(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`delete from shared_links where run_id = any(${runIds})`;
}

/** SHA-256 suffices: a token of 256 random bits cannot be guessed, however fast the hash is. */
function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * Removes descriptions, which are written for the model. Titles, formats and the order stay, because the table of the
 * data needs them.
 */
function withoutDescriptions<T>(schema: T): T;
function withoutDescriptions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => withoutDescriptions(each));
  if (!isJsonObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([name, value]) => typeof value !== 'string' || !FOR_MODELS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutDescriptions(value)]));
}

/**
 * Keywords whose texts are removed. A property of the data may have such a name: its value is a schema, not a text, and
 * stays.
 */
const FOR_MODELS: ReadonlySet<string> = new Set(['description', '$comment']);

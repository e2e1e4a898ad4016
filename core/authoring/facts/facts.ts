import { authorJson, recordProjectAudit, type Actor, type Author } from '#core/foundation/audit/index.ts';
import { holdProject } from '#core/accounts/organizations/index.ts';
import { sql, lockKey, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { findLineChanges } from '#lib/line-changes.ts';

/** The longest text, in Unicode code points as schemas count them. */
export const MAX_FACTS = 24_000;

/** One version of the facts of a project: a text for its routines. */
export interface Facts {
  /** Number of changes; 0 before the first text. */
  readonly version: number;
  readonly text: string;
  readonly createdBy: Author | null;
  readonly createdAt: Date | null;
}

const NONE: Facts = { version: 0, text: '', createdBy: null, createdAt: null };

export async function readFacts(db: Db, projectId: string): Promise<Facts> {
  const found = await db.row<Facts>`
    select f.version, f.text, f.created_at as "createdAt",
      ${authorJson({ createdBy: sql`f.created_by`, projectId: sql`f.project_id` })} as "createdBy"
    from project_facts f where f.project_id = ${projectId} order by f.version desc limit 1
  `;
  return found ?? NONE;
}

/**
 * Writes the facts of a project as a new version. Writing the same text again makes no version.
 * @param input.expectedVersions the versions that the caller expects (`If-Match`); undefined for any
 * @throws {AppError} `project_not_found`, `precondition_failed`
 */
export function writeFacts(
  database: Database,
  by: Actor,
  input: {
    readonly projectId: string;
    readonly text: string;
    readonly expectedVersions: readonly number[] | undefined;
  },
): Promise<Facts> {
  const { projectId, text, expectedVersions } = input;
  return transaction(database, async (tx) => {
    await holdProject(tx, projectId);
    // Lock a key, because before the first version there is no row to lock.
    await lockKey(tx, `ras:facts:${projectId}`);
    const before = await readFacts(tx, projectId);
    if (expectedVersions?.includes(before.version) === false) throw new AppError('precondition_failed');
    if (text === before.text) return before;
    const version = before.version + 1;
    const changes = findLineChanges(before.text, text);
    await tx.run`
      insert into project_facts (project_id, version, text, changes, created_by)
      values (${projectId}, ${version}, ${text}, ${JSON.stringify(changes)}::jsonb, ${by.id})
    `;
    await forgetFacts(tx, { projectId, version });
    const details = { version, ...changes.counts };
    await recordProjectAudit(tx, { by, projectId, action: 'facts.changed', targetId: projectId, details });
    return readFacts(tx, projectId);
  });
}

/** Number of newest versions that are always kept. */
export const KEPT_FACTS = 100;

/** Number of changes between two searches for old versions. A search reads the runs of all routines with facts. */
const FORGET_EVERY = 20;

/**
 * Deletes versions beyond the newest hundred, because a program can write facts ten times a second. Keeps each version
 * that a stored run was given, or that the proof or the activation of a routine names.
 */
async function forgetFacts(
  tx: Db,
  { projectId, version }: { readonly projectId: string; readonly version: number },
): Promise<void> {
  if (version <= KEPT_FACTS || version % FORGET_EVERY !== 0) return;
  await tx.run`
    with users as (
      select routine_id, proof_facts, active_facts from routine_versions
      where project_id = ${projectId} and definition ->> 'facts' = 'true'
    ), named as (
      select active_facts as version from users where active_facts is not null
      union select proof_facts from users where proof_facts is not null
      union select runs.facts_version from runs
      where runs.project_id = ${projectId} and runs.routine_id in (select routine_id from users)
        and runs.facts_version is not null
    )
    delete from project_facts
    where project_id = ${projectId} and version <= ${version - KEPT_FACTS}
      and version not in (select named.version from named)
  `;
}

import { empty, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { freeKey, nameColumns, type driftOf } from '#lib/external-keys.ts';
import { definitionForm, settingsForm } from '#core/authoring/definition/index.ts';
import { columns, routineOf, type RoutineRow } from './queries.ts';
import type { Routine, RoutineFields } from './routine.ts';
import { routineStatesBefore, type Mover, type StateMove } from './states.ts';
import { type VersionOrigin, forgetVersions, insertVersions } from './versions.ts';

/**
 * Inserts a draft with its first version. Returns undefined when an earlier attempt of the same request inserted it.
 * @throws {AppError} `external_key_taken`
 */
export async function insertRoutine(
  db: Db,
  input: RoutineFields & { id: string; projectId: string; webhookSecret: string | null; origin: VersionOrigin },
): Promise<Routine | undefined> {
  const inserted = await freeKey(
    db.row<RoutineRow>`
      with written as (
        insert into routines (
          id, project_id, definition, webhook_secret, external_key, managed_by, managed_from,
          ${settingsForm.names}
        ) values (
          ${input.id}, ${input.projectId}, ${definitionForm.write(input)}, ${input.webhookSecret},
          ${input.externalKey}, ${input.managedBy}, ${input.managedBy && input.managedFrom},
          ${settingsForm.values(input)}
        )
        on conflict (id) do nothing
        returning *
      ), version as (${insertVersions(input.origin)})
      select ${columns} from written routines
    `,
  );
  return inserted && routineOf(inserted);
}

/** A change of a routine in its stored form. */
export interface RoutineChange {
  readonly fields: RoutineFields;
  /** Origin of the new version; undefined when nothing material changes. A new version returns the routine to draft. */
  readonly version: VersionOrigin | undefined;
  /** True if a run has proven the new version already, so that the routine stays active. */
  readonly isProven?: true;
  /** The next time of the schedule. A change that returns the routine to draft clears this time. */
  readonly nextRunAt: Date | null;
  /** True to start deliveries again that a response of 410 (Gone) has stopped. */
  readonly rearmWebhook: boolean;
  /** Change of the mark that the routine differs from its files: set, removed or kept. */
  readonly drift: ReturnType<typeof driftOf>;
  /** Id of the person or the API key. */
  readonly by: string | null;
}

/**
 * Writes everything that a caller may change of a routine. The caller has locked the row.
 * @throws {AppError} `external_key_taken`
 */
export async function updateRoutine(tx: Db, { id, projectId }: Routine, change: RoutineChange): Promise<Routine> {
  const { fields, version, nextRunAt } = change;
  const isDraft = version !== undefined && change.isProven !== true;
  const proven = sql`revision = revision + 1, consecutive_failures = 0, state_reason = null, not_before = null,`;
  const updated = await freeKey(
    tx.row<RoutineRow>`
      with written as (
        update routines set
          definition = ${definitionForm.write(fields)}, ${settingsForm.assignments(fields)},
          webhook_failed_at = case when ${change.rearmWebhook}::boolean then null else webhook_failed_at end,
          ${nameColumns(fields, change.drift, change.by)}
          ${isDraft ? draft(null) : sql`${version ? proven : empty} next_run_at = ${nextRunAt}`},
          version = version + 1, updated_at = now()
        where id = ${id} and project_id = ${projectId} ${version ? sql`and ${mayMove('draft')}` : empty}
        returning *
      ) ${version ? sql`, version as (${insertVersions(version)})` : empty}
      select ${columns} from written routines
    `,
  );
  if (updated === undefined) throw new AppError('routine_not_found');
  if (version !== undefined) await forgetVersions(tx, [id]);
  return routineOf(updated);
}

/** Moves a routine to another state and resets its count of failures in a row. The caller has locked the row. */
export async function moveRoutine(
  tx: Db,
  { id, projectId }: Routine,
  to: { state: Exclude<StateMove, 'draft'>; nextRunAt: Date | null },
): Promise<Routine> {
  const moved = await tx.rowOr<RoutineRow>('routine_not_found')`
    update routines set
      state = ${to.state}, state_reason = null, next_run_at = ${to.nextRunAt}, not_before = null,
      consecutive_failures = 0,
      archived_at = case when ${to.state}::text = 'archived' then now() end,
      version = version + 1, updated_at = now()
    where id = ${id} and project_id = ${projectId} and ${mayMove(to.state)}
    returning ${columns}
  `;
  return routineOf(moved);
}

/**
 * Returns routines to draft after a material change outside their own rows, such as a change of a tool.
 * @param input.reason text that the routine shows; null when a person made the change on the routine itself
 */
export async function returnToDraft(
  tx: Db,
  input: { projectId: string; routineIds: readonly string[]; reason: string | null; actor: string | null },
): Promise<ReturnedToDraft[]> {
  if (input.routineIds.length === 0) return [];
  const changed = await tx.rows<ReturnedToDraft>`
    with before as (
      select id, state from routines
      where id = any(${input.routineIds}) and project_id = ${input.projectId} and ${mayMove('draft')}
      order by id for no key update
    ), written as (
      update routines set ${draft(input.reason)}, version = version + 1, updated_at = now()
      from before where routines.id = before.id
      returning routines.*
    ), version as (${insertVersions({ actor: input.actor })})
    select id, revision, before.state = 'active' as "wasActive" from written join before using (id)
  `;
  if (changed.length > 0) {
    await forgetVersions(
      tx,
      changed.map(({ id }) => id),
    );
  }
  return changed;
}

/** Takes a routine out of the archive. The caller has locked the row. @throws {AppError} `external_key_taken` */
export async function writeRestored(tx: Db, { id, projectId }: Routine, actor: string | null): Promise<Routine> {
  const restored = await freeKey(
    tx.row<RoutineRow>`
      with written as (
        update routines set ${draft(null)}, archived_at = null, consecutive_failures = 0,
          version = version + 1, updated_at = now()
        where id = ${id} and project_id = ${projectId} and ${mayMove('draft', 'restorer')}
        returning *
      ), version as (${insertVersions({ actor })})
      select ${columns} from written routines
    `,
  );
  if (restored === undefined) throw new AppError('routine_not_found');
  await forgetVersions(tx, [id]);
  return routineOf(restored);
}

/** A routine after a material change that is not stored in its own row, such as a tool policy. */
export interface ReturnedToDraft {
  readonly id: string;
  readonly revision: number;
  /** True when the change took the routine off its schedule. */
  readonly wasActive: boolean;
}

function draft(reason: string | null): Sql {
  return sql`state = 'draft', state_reason = ${reason}, revision = revision + 1, next_run_at = null`;
}

function mayMove(to: StateMove, by?: Mover): Sql {
  return sql`state = any(${routineStatesBefore(to, by)})`;
}

/** Writes the next times of routines. The caller has locked the rows. */
export async function setNextTimes(
  tx: Db,
  next: readonly { readonly id: string; readonly next: Date }[],
): Promise<number> {
  return tx.run`
    update routines r set next_run_at = n.next
    from jsonb_to_recordset(${JSON.stringify(next)}::jsonb) as n(id text, next timestamptz)
    where r.id = n.id
  `;
}

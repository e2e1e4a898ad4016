import { empty, sql, storableJson, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { DRIFT, freeKey } from '#lib/external-keys.ts';
import { definitionForm } from '#core/authoring/definition/index.ts';
import { columns, routineOf, type RoutineRow } from './queries.ts';
import type { Routine, RoutineFields } from './routine.ts';
import { routineStatesBefore, type StateMove } from './states.ts';
import { type VersionOrigin, forgetVersions, insertVersions } from './versions.ts';

/**
 * Inserts a draft with its first version. Undefined when an earlier attempt of the same request has inserted it.
 * @throws {AppError} `external_key_taken`
 */
export async function insertRoutine(
  db: Db,
  input: RoutineFields & {
    id: string;
    projectId: string;
    webhookSecret: string | null;
    origin: VersionOrigin;
  },
): Promise<Routine | undefined> {
  const { budget, notifications } = input;
  const inserted = await freeKey(
    db.row<RoutineRow>`
      with written as (
        insert into routines (
          id, project_id, name, definition, schedule, timezone, starts_at, ends_at, skip_dates, jitter_seconds,
          overlap, misfire, max_tokens_per_day, max_cost_usd_per_month, pause_after_failures,
          webhook_url, deliver, webhook_secret, notify_mail, success_ping_url, external_key, managed_by
        ) values (
          ${input.id}, ${input.projectId}, ${input.name}, ${definitionForm.write(input)},
          ${input.schedule}, ${input.timezone}, ${input.startsAt}, ${input.endsAt},
          ${input.skipDates.toSorted()}, ${input.jitterSeconds},
          ${input.overlap}, ${input.misfire}, ${budget.maxTokensPerDay}, ${budget.maxCostUsdPerMonth},
          ${input.pauseAfterFailures}, ${input.webhookUrl}, ${input.deliver}, ${input.webhookSecret},
          ${jsonOrNull(notifications.mail)}::jsonb, ${notifications.successPingUrl},
          ${input.externalKey}, ${input.managedBy}
        )
        on conflict (id) do nothing
        returning *
      ), version as (${insertVersions(input.origin)})
      select ${columns} from written
    `,
  );
  return inserted && routineOf(inserted);
}

/** A change of a routine, as it is written to the row. */
export interface RoutineChange {
  readonly fields: RoutineFields;
  /** The origin of the new version with which the routine returns to draft; undefined when nothing material changes. */
  readonly version: VersionOrigin | undefined;
  /** The next time, unless the change is material. */
  readonly nextRunAt: Date | null;
  /** Starts deliveries again after a 410 has stopped them. */
  readonly rearmWebhook: boolean;
  /** Sets, removes or leaves the mark that the routine differs from its files. */
  readonly drift: keyof typeof DRIFT;
}

/**
 * Writes everything that a caller may change. The caller has locked the row.
 * @throws {AppError} `external_key_taken`
 */
export async function updateRoutine(tx: Db, { id, projectId }: Routine, change: RoutineChange): Promise<Routine> {
  const { fields, version } = change;
  const { budget, notifications } = fields;
  const updated = await freeKey(
    tx.row<RoutineRow>`
      with written as (
        update routines set
          name = ${fields.name}, definition = ${definitionForm.write(fields)},
          schedule = ${fields.schedule}, timezone = ${fields.timezone}, starts_at = ${fields.startsAt},
          ends_at = ${fields.endsAt}, skip_dates = ${fields.skipDates.toSorted()},
          jitter_seconds = ${fields.jitterSeconds}, overlap = ${fields.overlap}, misfire = ${fields.misfire},
          max_tokens_per_day = ${budget.maxTokensPerDay}, max_cost_usd_per_month = ${budget.maxCostUsdPerMonth},
          pause_after_failures = ${fields.pauseAfterFailures},
          webhook_failed_at = case when ${change.rearmWebhook}::boolean then null else webhook_failed_at end,
          webhook_url = ${fields.webhookUrl}, deliver = ${fields.deliver},
          notify_mail = ${jsonOrNull(notifications.mail)}::jsonb, success_ping_url = ${notifications.successPingUrl},
          external_key = ${fields.externalKey}, managed_by = ${fields.managedBy},
          ${DRIFT[change.drift]}
          ${version ? draft(null) : sql`next_run_at = ${change.nextRunAt}`},
          version = version + 1, updated_at = now()
        where id = ${id} and project_id = ${projectId} ${version ? sql`and ${mayMove('draft')}` : empty}
        returning *
      ) ${version ? sql`, version as (${insertVersions(version)})` : empty}
      select ${columns} from written
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
  const moved = await tx.row<RoutineRow>`
    update routines set
      state = ${to.state}, state_reason = null, next_run_at = ${to.nextRunAt}, not_before = null,
      consecutive_failures = 0,
      archived_at = case when ${to.state}::text = 'archived' then now() end,
      version = version + 1, updated_at = now()
    where id = ${id} and project_id = ${projectId} and ${mayMove(to.state)}
    returning ${columns}
  `;
  if (moved === undefined) throw new AppError('routine_not_found');
  return routineOf(moved);
}

/**
 * Returns routines to draft after a material change outside their own rows, such as one of a tool.
 * @param input.reason shown on the routine; null where a person made the change on the routine itself
 * @returns the changed routines
 */
export async function returnToDraft(
  tx: Db,
  input: {
    projectId: string;
    routineIds: readonly string[];
    reason: string | null;
    actor: string | null;
  },
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

/** A routine after a material change outside its own row. */
export interface ReturnedToDraft {
  readonly id: string;
  readonly revision: number;
  /** True when the change took it off its schedule. */
  readonly wasActive: boolean;
}

/** Assigns the columns of a material change: a new revision without a proof run and a next time. */
function draft(reason: string | null): Sql {
  return sql`state = 'draft', state_reason = ${reason}, revision = revision + 1, next_run_at = null`;
}

function jsonOrNull(value: object | null): string | null {
  return value === null ? null : storableJson(value);
}

function mayMove(to: StateMove): Sql {
  return sql`state = any(${routineStatesBefore(to)})`;
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

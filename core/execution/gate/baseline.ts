import { sql, type Db, type Sql } from '#lib/database/index.ts';
import type { AskingRun } from './ask-tool.ts';
import type { Baseline } from './decide.ts';

/** Reads the value of the last run of this version that succeeded or found no change; a new version has none yet. */
export function readBaseline(db: Db, run: AskingRun): Promise<Baseline | undefined> {
  return db.row<Baseline>`
    select value_hash as hash, is_empty as "isEmpty", etag, woke_at as "wokeAt" from gate_baselines
    where routine_id = ${run.routineId} and project_id = ${run.projectId} and revision = ${run.revision}
  `;
}

/** Stores the value that the gate of a skipped run read. */
export async function keepSeen(tx: Db, runId: string): Promise<void> {
  await tx.run`with ended as (select * from runs where id = ${runId}), ${seenAtEnd(sql`ended`)} select from seen`;
}

/**
 * Returns the CTEs `seen`, `woken` and `kept` of the statement that ends a run. They store the value that the run's
 * gate saw if the run succeeds or is skipped; after a failed run the next run sees the same change again. Of concurrent
 * runs, the value seen last stays. A gate that failed has no value, but it woke the model, so `maxQuietHours` starts
 * again.
 * @param relations `ended`, the run, and the relations whose locks come first
 */
export function seenAtEnd(relations: Sql): Sql {
  return sql`seen as (
        select ended.routine_id, ended.project_id, ended.routine_revision, ended.state, ended.gate,
          ended.gate->'seen'->>'hash' as hash,
          coalesce(ended.skipped_until, ended.scheduled_for, ended.started_at) as due_at
        from ${relations} where ended.gate is not null
      ), woken as (
        update gate_baselines b set woke_at = greatest(b.woke_at, seen.due_at) from seen
        where seen.hash is null and b.routine_id = seen.routine_id and b.project_id = seen.project_id
          and b.revision = seen.routine_revision
      ), kept as (
        insert into gate_baselines as kept
          (routine_id, project_id, revision, value_hash, is_empty, etag, asked_at, woke_at)
        select routine_id, project_id, routine_revision, hash, (gate->'seen'->>'isEmpty')::boolean,
          gate->'seen'->>'etag', (gate->>'at')::timestamptz, due_at
        from seen where hash is not null
        on conflict (routine_id) do update set
          revision = excluded.revision, value_hash = excluded.value_hash, is_empty = excluded.is_empty,
          etag = excluded.etag, asked_at = excluded.asked_at,
          woke_at = case
            when kept.revision < excluded.revision then excluded.woke_at
            when (select state from seen) = 'skipped' then kept.woke_at
            else greatest(kept.woke_at, excluded.woke_at) end
        where kept.revision < excluded.revision
          or (kept.revision = excluded.revision and kept.asked_at <= excluded.asked_at)
      )`;
}

/** Deletes the values that gates of a deleted project have seen. */
export async function forgetSeen(db: Db, projectId: string): Promise<void> {
  await db.run`delete from gate_baselines where project_id = ${projectId}`;
}

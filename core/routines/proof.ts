import { execute, ownedBy, row, sql, type Db } from '#lib/database/index.ts';
import type { Routine } from './routine.ts';

/**
 * Selects the latest manual run that has succeeded with the present version of a row of `routines`. Where retention has
 * deleted it, the version remembers its id.
 */
export const proofRunId = sql`coalesce((
        select p.id from runs p
        where ${ownedBy(sql`p.routine_id`, sql`routines.id`)} and p.project_id = routines.project_id
          and p.routine_revision = routines.revision and p.trigger = 'manual' and p.state = 'succeeded'
        order by p.routine_id, p.id desc limit 1
      ), (
        select v.proof_run_id from routine_versions v
        where v.routine_id = routines.id and v.revision = routines.revision
      ))`;

/** Tells whether a manual run has succeeded with the present version. */
export async function hasProofRun(db: Db, { id, projectId }: Routine): Promise<boolean> {
  const found = await row<{ proofRunId: string | null }>(
    db,
    sql`
      select ${proofRunId} as "proofRunId" from routines where id = ${id} and project_id = ${projectId}
    `,
  );
  return (found?.proofRunId ?? null) !== null;
}

/**
 * Notes on their versions which of these runs are proof, in the transaction that deletes the runs. Versions are locked
 * in one order, as two that delete at the same time may meet on them.
 */
export async function keepProofs(tx: Db, runIds: readonly string[]): Promise<void> {
  await execute(
    tx,
    sql`
      with proof as (
        select routine_id, routine_revision as revision, max(id) as run_id from runs
        where id = any(${runIds}) and trigger = 'manual' and state = 'succeeded'
        group by routine_id, routine_revision
      ), locked as (
        select v.routine_id, v.revision, proof.run_id
        from proof join routine_versions v on v.routine_id = proof.routine_id and v.revision = proof.revision
        order by v.routine_id, v.revision for no key update of v
      )
      update routine_versions v set proof_run_id = greatest(v.proof_run_id, locked.run_id)
      from locked where v.routine_id = locked.routine_id and v.revision = locked.revision
    `,
  );
}

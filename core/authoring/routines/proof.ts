import type { SkillRevisions } from '#core/authoring/skills/index.ts';
import { ownedBy, sql, type Db } from '#lib/database/index.ts';
import type { Routine } from './routine.ts';

/** SQL condition on runs `p`: a manual run of the present version of a `routines` row succeeded, with all its tools. */
const succeeded = sql`${ownedBy(sql`p.routine_id`, sql`routines.id`)} and p.project_id = routines.project_id
          and p.routine_revision = routines.revision and p.trigger = 'manual' and p.state = 'succeeded'
          and p.warnings = '{}'`;

/**
 * Selects the id of the latest manual run that has succeeded with the present version of a row of `routines` and with
 * the routine's own variables. Other variables would prove another text. The version keeps the id after retention has
 * deleted the run.
 */
export const proofRunId = sql`coalesce((
        select p.id from runs p
        where ${succeeded} and p.proves is not false and p.variables <@ (routines.definition -> 'variables')
        order by p.routine_id, p.id desc limit 1
      ), (
        select v.proof_run_id from routine_versions v
        where v.routine_id = routines.id and v.revision = routines.revision
      ))`;

/** Tells whether a manual run has succeeded with the present version. */
export async function hasProofRun(db: Db, { id, projectId }: Routine): Promise<boolean> {
  const found = await db.value<string | null | undefined>`
    select ${proofRunId} from routines where id = ${id} and project_id = ${projectId}
  `;
  return found != null;
}

/**
 * Selects whether a manual run has succeeded with the present version and any variables; null unless the routine is a
 * draft or paused.
 */
export const hasSucceeded = sql`case when state in ('draft', 'paused') then exists (select from runs p where ${succeeded}) end`;

/** Revisions of the texts that a run gets in addition to its definition. */
export interface ToldTexts {
  readonly skills: SkillRevisions;
  /** Version of the facts of the project; null without facts. */
  readonly facts: number | null;
}

interface ProvenTexts {
  readonly proofRunId: string | null;
  /** Texts of the latest proof of the present version. */
  readonly proven: ToldTexts;
  /** Texts for the scheduled runs of the present version. */
  readonly active: ToldTexts;
}

const NO_TEXTS: ToldTexts = { skills: null, facts: null };

/** Reads the texts of skills and facts that a routine has proven, and the texts for its scheduled runs. */
export async function readProvenTexts(db: Db, { id, projectId }: Routine): Promise<ProvenTexts> {
  const found = await db.row<ProvenTexts>`
    select proof.id as "proofRunId",
      jsonb_build_object('skills', v.active_skills, 'facts', v.active_facts) as active,
      case when p.id is null then jsonb_build_object('skills', v.proof_skills, 'facts', v.proof_facts)
        else jsonb_build_object('skills', p.skill_revisions, 'facts', p.facts_version) end as proven
    from routines
    cross join lateral (select ${proofRunId} as id) proof
    join routine_versions v on v.routine_id = routines.id and v.revision = routines.revision
    left join runs p on p.id = proof.id and p.project_id = routines.project_id
    where routines.id = ${id} and routines.project_id = ${projectId}
  `;
  return found ?? { proofRunId: null, proven: NO_TEXTS, active: NO_TEXTS };
}

/** Makes the scheduled runs of the present version take these texts. */
export async function activateTexts(tx: Db, routine: Routine, { skills, facts }: ToldTexts): Promise<void> {
  const revisions = skills === null ? null : JSON.stringify(skills);
  await tx.run`
    update routine_versions set active_skills = ${revisions}::jsonb, active_facts = ${facts}::integer
    where routine_id = ${routine.id} and revision = ${routine.revision} and project_id = ${routine.projectId}
  `;
}

/**
 * Records which of these runs prove a version of a routine, in the transaction that deletes the runs. Versions are
 * locked in one order, so that two of these transactions cannot deadlock.
 */
export async function keepProofs(tx: Db, runIds: readonly string[]): Promise<void> {
  await tx.run`
    with proof as (
      select distinct on (routine_id, routine_revision) routine_id, routine_revision as revision, id as run_id,
        skill_revisions, facts_version
      from runs
      where id = any(${runIds}) and trigger = 'manual' and state = 'succeeded' and proves is not false
        and warnings = '{}'
      order by routine_id, routine_revision, id desc
    ), locked as (
      select v.routine_id, v.revision, proof.run_id, proof.skill_revisions, proof.facts_version
      from proof join routine_versions v on v.routine_id = proof.routine_id and v.revision = proof.revision
      order by v.routine_id, v.revision for no key update of v
    )
    update routine_versions v set proof_run_id = greatest(v.proof_run_id, locked.run_id),
      proof_skills = case when v.proof_run_id > locked.run_id then v.proof_skills else locked.skill_revisions end,
      proof_facts = case when v.proof_run_id > locked.run_id then v.proof_facts else locked.facts_version end
    from locked where v.routine_id = locked.routine_id and v.revision = locked.revision
  `;
}

import type { Core } from '#core/core.ts';
import type { Actor } from '#core/foundation/audit/index.ts';
import { sql, storableJson, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { definitionForm } from '#core/authoring/definition/index.ts';
import type { Routine, RoutineFields } from './routine.ts';
import { insertVersions } from './versions.ts';

export const PROPOSAL_STATES = ['open', 'taken', 'dropped'] as const;

/** Reasons for dropping a proposal. The list is closed, so that clients can branch on a reason. */
export const DROP_REASONS = {
  run_failed: 'its run failed',
  run_cancelled: 'the run was cancelled',
  run_skipped: 'the run never began',
  run_partial: 'the run did only a part of the work, or lacked tools',
  routine_changed: 'the routine or its tools were changed meanwhile',
  routine_paused: 'the routine was paused meanwhile',
  routine_archived: 'the routine was archived meanwhile',
  schedule_ended: 'the schedule has no time left',
  withdrawn: 'someone withdrew it',
} as const;

export type DropReason = keyof typeof DROP_REASONS;

/** The latest proposed change of an active routine. */
export interface Proposal {
  readonly id: string;
  readonly routineId: string;
  /** The run that tries the change. */
  readonly runId: string;
  /** State of the proposal: `taken` once the routine has the change. */
  readonly state: (typeof PROPOSAL_STATES)[number];
  readonly reason: DropReason | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

const proposalColumns = sql`
  id, routine_id as "routineId", run_id as "runId", state, reason, created_at as "createdAt", ended_at as "endedAt"
`;

/**
 * Inserts a proposal with its version, in place of the routine's previous proposal. The caller has locked the routine.
 * @returns the proposal and the revision that its run executes; undefined while the previous proposal is open
 */
export function insertProposal(
  tx: Db,
  { id: routineId, projectId, revision }: Routine,
  proposal: { id: string; runId: string; fields: RoutineFields; settings: object; by: Actor },
): Promise<(Proposal & { readonly revision: number }) | undefined> {
  const { id, runId, fields, settings, by } = proposal;
  return tx.row<Proposal & { revision: number }>`
    with proposal as (
      insert into routine_proposals as last (routine_id, id, project_id, run_id, base_revision, settings, author)
      values (${routineId}, ${id}, ${projectId}, ${runId}, ${revision}, ${storableJson(settings)}::jsonb,
        ${storableJson(by)}::jsonb)
      on conflict (routine_id) do update set id = excluded.id, run_id = excluded.run_id, revision = last.revision - 1,
        base_revision = excluded.base_revision, settings = excluded.settings, author = excluded.author,
        state = 'open', reason = null, created_at = now(), ended_at = null
      where last.state <> 'open'
      returning *
    ), written as (
      select routine_id as id, revision, project_id, ${definitionForm.write(fields)}::jsonb as definition from proposal
    ), version as (${insertVersions({ actor: by.id })})
    select ${proposalColumns}, revision from proposal
  `;
}

/** Reads a routine's latest proposal. @throws {AppError} `proposal_not_found` when the proposal has another id */
export async function readProposal(
  db: Db,
  { projectId, routineId, id }: { readonly projectId: string; readonly routineId: string; readonly id: string },
): Promise<Proposal> {
  const found = await latestProposal(db, projectId, routineId);
  if (found?.id !== id) throw new AppError('proposal_not_found');
  return found;
}

export function latestProposal(db: Db, projectId: string, routineId: string): Promise<Proposal | undefined> {
  return db.row<Proposal>`
    select ${proposalColumns} from routine_proposals where routine_id = ${routineId} and project_id = ${projectId}
  `;
}

/** Selects the latest proposal of a row of `routines` as one JSON value. */
export const proposalJson = sql`(
  select to_jsonb(latest) from (
    select ${proposalColumns} from routine_proposals p
    where p.routine_id = routines.id and p.project_id = routines.project_id) latest)`;

export type ProposalJson = Omit<Proposal, 'createdAt' | 'endedAt'> & {
  readonly createdAt: string;
  readonly endedAt: string | null;
};

export function proposalOf({ createdAt, endedAt, ...proposal }: ProposalJson): Proposal {
  return { ...proposal, createdAt: new Date(createdAt), endedAt: endedAt === null ? null : new Date(endedAt) };
}

/** Drops the open proposals of routines, in the transaction of the change that overrides them. */
export async function dropProposals(
  { emit }: Pick<Core, 'emit'>,
  tx: Db,
  { routineIds, reason }: { readonly routineIds: readonly string[]; readonly reason: DropReason },
): Promise<void> {
  const dropped = await tx.rows<{ routineId: string }>`
    update routine_proposals set state = 'dropped', reason = ${reason}, settings = null, author = null, ended_at = now()
    where routine_id = any(${routineIds}) and state = 'open'
    returning routine_id as "routineId"
  `;
  if (dropped.length === 0) return;
  await emit(tx, 'proposal.dropped', { routineIds: dropped.map(({ routineId }) => routineId) });
}

/**
 * Closes a proposal that was taken over, and deletes its version: the routine has the same version under a new number.
 */
export async function closeTaken(
  tx: Db,
  { projectId, routineId, revision }: { projectId: string; routineId: string; revision: number },
): Promise<void> {
  await tx.run`
    with proposal as (
      update routine_proposals set state = 'taken', settings = null, author = null, ended_at = now()
      where routine_id = ${routineId} and project_id = ${projectId} and state = 'open'
    )
    delete from routine_versions
    where routine_id = ${routineId} and project_id = ${projectId} and revision = ${revision}
  `;
}

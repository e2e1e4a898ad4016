import { z } from 'zod';
import type { Core } from '#core/core.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { isOver, nextTimeAfterSave } from '#core/foundation/timetable/index.ts';
import { definitionForm, fieldsWith, patchOf } from '#core/authoring/definition/index.ts';
import { databaseTime, eachApart, transaction, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { driftOf } from '#lib/external-keys.ts';
import { withoutUndefined } from '#lib/json.ts';
import { assertChecks } from './check.ts';
import { activateTexts, readProvenTexts } from './proof.ts';
import {
  closeTaken,
  dropProposals,
  insertProposal,
  latestProposal,
  readProposal,
  type DropReason,
  type Proposal,
} from './proposals.ts';
import { lockRoutine, readRoutine } from './queries.ts';
import { recordChanges } from './record-changes.ts';
import type { Routine } from './routine.ts';
import {
  applyPatch,
  assertPatchable,
  changeChecks,
  giveFirstSecret,
  type RoutinePatch,
  type SaveDeps,
  type SavedRoutine,
} from './save.ts';
import { routineWarnings } from './warnings.ts';
import { updateRoutine } from './writes.ts';

export { DROP_REASONS, PROPOSAL_STATES, readProposal } from './proposals.ts';

const SETTINGS = fieldsWith({});
const settingsPatch = z.strictObject(patchOf(SETTINGS)).partial();

export interface ProposedChange {
  readonly id: string;
  readonly routineId: string;
  readonly projectId: string;
  /** The id of the run that tries the change. */
  readonly runId: string;
  readonly patch: RoutinePatch;
  readonly expectedVersions: readonly number[] | undefined;
  readonly by: Actor;
}

export interface StartedProposal<T> extends Pick<SavedRoutine, 'webhookSecret' | 'warnings'> {
  readonly proposal: Proposal;
  /** The value that `prove` returned; undefined when an earlier attempt of the same request has opened the proposal. */
  readonly proof: T | undefined;
}

/**
 * Opens a proposal: a change that an active routine takes over once a run has succeeded with it.
 * @param prove records the run that executes this revision
 * @throws {AppError} `routine_not_active`, `proposal_open`, `invalid_request` for a change that does not affect runs,
 * and the errors of `patchRoutine` and `prove`
 */
export async function proposeChange<T>(
  deps: SaveDeps,
  input: ProposedChange,
  prove: (tx: Db, revision: number) => Promise<T>,
): Promise<StartedProposal<T>> {
  const { id, routineId, projectId, runId, patch, expectedVersions, by } = input;
  const seen = await readRoutine(deps.database, projectId, routineId);
  if (seen.proposal?.id === id) {
    return { proposal: seen.proposal, proof: undefined, webhookSecret: undefined, warnings: [] };
  }
  assertProposable(seen, expectedVersions);
  await assertChecks(changeChecks(deps, { seen, patch }));
  const started = await transaction(deps.database, async (tx) => {
    const before = await lockRoutine(tx, projectId, routineId);
    assertProposable(before, expectedVersions);
    // Start again, because another request changed the routine after it was checked.
    if (before.version !== seen.version) return undefined;
    const fields = applyPatch(before, patch);
    if (definitionForm.differences(before, fields).length === 0) {
      throw invalid([{ path: 'patch', message: 'a proposal must change what runs do; save other changes by PATCH' }]);
    }
    const settings = Object.fromEntries(Object.entries(patch).filter(([name]) => name in SETTINGS));
    const opened = await insertProposal(tx, before, { id, runId, fields, settings, by });
    if (opened === undefined) throw await openAlready(tx, before);
    const { revision, ...proposal } = opened;
    const webhookSecret = await giveFirstSecret(deps, tx, before, fields);
    const proof = await prove(tx, revision);
    return { proposal, proof, webhookSecret, warnings: await routineWarnings(tx, deps, { ...seen, ...fields }) };
  });
  return started ?? proposeChange(deps, input, prove);
}

function assertProposable(routine: Routine, expected: readonly number[] | undefined): void {
  assertPatchable(routine, expected);
  if (routine.state !== 'active') throw new AppError('routine_not_active');
}

async function openAlready(tx: Db, { id, projectId }: Routine): Promise<AppError> {
  const open = await latestProposal(tx, projectId, id);
  return new AppError(
    'proposal_open',
    `The proposal ${open?.id} is being tried: wait until it ends, or delete it first.`,
    {
      Location: `/v1/routines/${id}/proposals/${open?.id}`,
    },
  );
}

/** Drops an open proposal, which cancels its run. @throws {AppError} `routine_not_found`, `proposal_not_found` */
export function withdrawProposal(
  deps: Pick<Core, 'database' | 'emit'>,
  proposal: { readonly projectId: string; readonly routineId: string; readonly id: string },
): Promise<Proposal> {
  const { projectId, routineId } = proposal;
  return transaction(deps.database, async (tx) => {
    await lockRoutine(tx, projectId, routineId);
    const { state } = await readProposal(tx, proposal);
    if (state === 'open') await dropProposals(deps, tx, { routineIds: [routineId], reason: 'withdrawn' });
    return readProposal(tx, proposal);
  });
}

type SettleDeps = Pick<Core, 'database' | 'emit' | 'log'>;

/** An open proposal whose run has ended. */
interface EndedProof {
  readonly id: string;
  readonly routineId: string;
  readonly projectId: string;
  readonly runId: string;
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'skipped';
  readonly isPartial: boolean;
}

/** The most proposals that one call ends; the next tick continues. */
const AT_A_TIME = 200;

/**
 * Takes over the proposals whose runs have succeeded and drops those whose runs ended otherwise, each in a separate
 * transaction. If the process dies, the next tick does the rest.
 */
export async function settleProposals(deps: SettleDeps): Promise<void> {
  const ended = await deps.database.rows<EndedProof>`
    select p.id, p.routine_id as "routineId", p.project_id as "projectId", p.run_id as "runId", runs.state,
      runs.outcome is not distinct from 'partial' or runs.warnings <> '{}' as "isPartial"
    from routine_proposals p join runs on runs.id = p.run_id and runs.project_id = p.project_id
    where p.state = 'open' and runs.finished_at is not null
    limit ${AT_A_TIME}
  `;
  await eachApart(ended, (proof) => transaction(deps.database, (tx) => settle(deps, tx, proof)), {
    failed: (err, { id: proposalId }) => deps.log.error({ err, proposalId }, 'a proposal could not be settled'),
  });
}

async function settle(deps: SettleDeps, tx: Db, proof: EndedProof): Promise<void> {
  const { projectId, routineId, runId } = proof;
  const before = await lockRoutine(tx, projectId, routineId);
  const open = await tx.row<OpenProposal>`
    select p.revision, p.base_revision as "baseRevision", p.settings, p.author, v.definition from routine_proposals p
    join routine_versions v on v.routine_id = p.routine_id and v.revision = p.revision
    where p.id = ${proof.id} and p.routine_id = ${routineId} and p.project_id = ${projectId} and p.state = 'open'
  `;
  if (open === undefined) return;
  const drop = (reason: DropReason) => dropProposals(deps, tx, { routineIds: [routineId], reason });
  const refusal = refusalOf(proof, before, open);
  if (refusal !== undefined) return drop(refusal);
  const settings = settingsPatch.parse(open.settings);
  const { value, blocked } = definitionForm.read(open.definition);
  // A newer release wrote the change. Leave the proposal to that release, because this release cannot read all fields.
  if (blocked !== null) return;
  const fields = { ...applyPatch(before, withoutUndefined(settings)), ...value };
  const nextRunAt = nextTimeAfterSave(before, fields, await databaseTime(tx));
  if (nextRunAt !== null && isOver({ ...fields, id: routineId }, nextRunAt)) return drop('schedule_ended');
  await closeTaken(tx, { projectId, routineId, revision: open.revision });
  const by = open.author;
  const after = await updateRoutine(tx, before, {
    fields,
    version: { actor: by.id },
    isProven: true,
    nextRunAt,
    rearmWebhook: settings.webhookUrl !== undefined,
    drift: driftOf(before, fields, { managedBy: undefined, isPut: false }),
    by: by.id,
  });
  const { revision } = after;
  await deps.emit(tx, 'proposal.taken', { projectId, runId, revision });
  await activateTexts(tx, after, (await readProvenTexts(tx, after)).proven);
  await deps.emit(tx, 'routine.changed', { routineIds: [routineId] });
  await recordChanges(tx, { before, after, by, restoredFrom: undefined });
  const entry = { by, projectId, targetId: routineId, details: { revision } };
  await recordProjectAudit(tx, { ...entry, action: 'routine.activated' });
}

interface OpenProposal {
  readonly revision: number;
  readonly baseRevision: number;
  readonly settings: unknown;
  readonly author: Actor;
  readonly definition: unknown;
}

function refusalOf(proof: EndedProof, routine: Routine, open: OpenProposal): DropReason | undefined {
  const { state } = proof;
  if (routine.state === 'archived') return 'routine_archived';
  if (routine.state !== 'active') return 'routine_paused';
  if (routine.revision !== open.baseRevision) return 'routine_changed';
  if (state !== 'succeeded') return `run_${state}`;
  return proof.isPartial ? 'run_partial' : undefined;
}

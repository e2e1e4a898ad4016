import { mayActivate, type Plan } from '#core/billing/index.ts';
import type { Db } from '#lib/database/index.ts';
import { readRoutine, type ProvenRoutine } from './queries.ts';
import type { Routine } from './routine.ts';

/** Why a routine cannot be activated, by the code of the error that the attempt would get. */
export const ACTIVATION_REASONS = [
  'successful_run_required',
  'routine_archived',
  'allowance_exceeded',
] as const;

export interface Activation {
  /** Whether activating it would be accepted now. */
  readonly ready: boolean;
  /** The latest manual run that has succeeded with the present version. */
  readonly proofRunId: string | null;
  readonly reason: (typeof ACTIVATION_REASONS)[number] | null;
}

export interface RoutineDetail extends Routine {
  readonly activation: Activation;
}

/** Reads a routine and whether it can be activated. @throws {AppError} `routine_not_found` */
export async function readRoutineDetail(
  db: Db,
  input: { projectId: string; organizationId: string; plan: Plan; id: string },
): Promise<RoutineDetail> {
  const { proofRunId, ...routine } = await readRoutine(db, input.projectId, input.id);
  const reason = await refusalOf(db, { ...routine, proofRunId }, input);
  return { ...routine, activation: { ready: reason === null, proofRunId, reason } };
}

async function refusalOf(
  db: Db,
  { state, proofRunId }: ProvenRoutine,
  { organizationId, plan }: { organizationId: string; plan: Plan },
): Promise<Activation['reason']> {
  if (state === 'archived') return 'routine_archived';
  if (state === 'active') return null;
  if (proofRunId === null) return 'successful_run_required';
  return (await mayActivate(db, organizationId, plan)) ? null : 'allowance_exceeded';
}

import { mayActivate, type Plan } from '#core/billing/index.ts';
import type { SkillCatalogue } from '#core/skills/index.ts';
import type { CallableTool } from '#core/tools/index.ts';
import type { Db } from '#lib/database/index.ts';
import { readRoutine, type ProvenRoutine } from './queries.ts';
import { isOver, nextTimeFrom } from './next-times.ts';
import type { Routine } from './routine.ts';
import { warningsOf, type RoutineWarning } from './warnings.ts';

/** Reasons why a routine cannot be activated, by the code of the error that an attempt would get. */
export const ACTIVATION_REASONS = [
  'successful_run_required',
  'routine_archived',
  'schedule_ended',
  'allowance_exceeded',
] as const;

export interface Activation {
  /** True when activation would be accepted now. */
  readonly ready: boolean;
  /** The latest manual run that has succeeded with the present version. */
  readonly proofRunId: string | null;
  readonly reason: (typeof ACTIVATION_REASONS)[number] | null;
}

export interface RoutineDetail extends Routine {
  readonly activation: Activation;
  readonly callableTools: readonly CallableTool[];
  readonly warnings: readonly RoutineWarning[];
}

/**
 * Reads a routine, whether it can be activated, and what may be amiss with it. @throws {AppError} `routine_not_found`
 */
export async function readRoutineDetail(
  { database: db, skills }: { readonly database: Db; readonly skills: SkillCatalogue },
  input: { projectId: string; organizationId: string; plan: Plan; id: string },
): Promise<RoutineDetail> {
  const routine = await readRoutine(db, input.projectId, input.id);
  const { proofRunId, callableTools } = routine;
  const reason = await refusalOf(db, routine, input);
  return {
    ...routine,
    activation: { ready: reason === null, proofRunId, reason },
    warnings: warningsOf(skills, routine, callableTools),
  };
}

async function refusalOf(
  db: Db,
  routine: ProvenRoutine,
  { organizationId, plan }: { organizationId: string; plan: Plan },
): Promise<Activation['reason']> {
  const { state, proofRunId } = routine;
  if (state === 'archived') return 'routine_archived';
  if (state === 'active') return null;
  if (proofRunId === null) return 'successful_run_required';
  if (hasEnded(routine)) return 'schedule_ended';
  return (await mayActivate(db, organizationId, plan)) ? null : 'allowance_exceeded';
}

function hasEnded(routine: ProvenRoutine): boolean {
  return routine.endsAt !== null && isOver(routine, nextTimeFrom(routine, new Date()));
}

import { mayActivate, type Plan } from '#core/accounts/billing/index.ts';
import { readFacts } from '#core/authoring/facts/index.ts';
import { skillsBehind, type SkillBehind, type SkillCatalogue } from '#core/authoring/skills/index.ts';
import type { HintedTool } from '#core/integrations/tools/index.ts';
import { now } from '#lib/clock.ts';
import type { Db } from '#lib/database/index.ts';
import { isOver, nextTimeFrom } from '#core/foundation/timetable/index.ts';
import { readProvenTexts } from './proof.ts';
import { readRoutine, type ProvenRoutine } from './queries.ts';
import type { Routine } from './routine.ts';
import { routineWarnings, type RoutineWarning, type WarningDeps } from './warnings.ts';

/**
 * Reasons why a routine cannot be activated. Each reason is also the code of the error. Only `own_variables_required`
 * (all successful runs had other variables) has another code, `successful_run_required`.
 */
export const ACTIVATION_REASONS = [
  'successful_run_required',
  'own_variables_required',
  'routine_archived',
  'definition_unreadable',
  'schedule_ended',
  'allowance_exceeded',
] as const;

export interface Activation {
  /** True when activation would be accepted now. */
  readonly ready: boolean;
  /** Id of the latest manual run that has succeeded with the present version. */
  readonly proofRunId: string | null;
  readonly reason: (typeof ACTIVATION_REASONS)[number] | null;
}

export interface RoutineDetail extends Routine, Pick<ProvenRoutine, 'proposal'> {
  readonly activation: Activation;
  readonly callableTools: readonly HintedTool[];
  readonly warnings: readonly RoutineWarning[];
  /** Skills of an active routine that have a newer text than its scheduled runs take. */
  readonly skillsBehind: readonly SkillBehind[];
  /** The project's facts when they are newer than the facts of an active routine's scheduled runs; else null. */
  readonly factsBehind: FactsBehind | null;
}

/** Versions of a project's facts; null for no facts. */
export interface FactsBehind {
  readonly activated: number | null;
  readonly proven: number | null;
  readonly newest: number;
}

/** Reads a routine with its warnings, and whether it can be activated. @throws {AppError} `routine_not_found` */
export async function readRoutineDetail(
  deps: WarningDeps & { readonly database: Db },
  input: { projectId: string; organizationId: string; plan: Plan; id: string },
): Promise<RoutineDetail> {
  const { database: db, skills } = deps;
  const routine = await readRoutine(db, input.projectId, input.id);
  const { proofRunId } = routine;
  const reason = await refusalOf(db, routine, input);
  return {
    ...routine,
    activation: { ready: reason === null, proofRunId, reason },
    warnings: await routineWarnings(db, deps, routine),
    ...(await behind(db, skills, routine)),
  };
}

type Behind = Pick<RoutineDetail, 'skillsBehind' | 'factsBehind'>;

async function behind(db: Db, catalogue: SkillCatalogue, routine: ProvenRoutine): Promise<Behind> {
  const custom = routine.skills.filter((reference) => catalogue.find(reference) === undefined);
  const none: Behind = { skillsBehind: [], factsBehind: null };
  if (routine.state !== 'active' || (custom.length === 0 && !routine.facts)) return none;
  const { active, proven, proofRunId } = await readProvenTexts(db, routine);
  // Without a proof no text is proven: use `{}`, because null would mean the first text of each skill.
  const skills = { active: active.skills, proven: proofRunId === null ? {} : proven.skills };
  return {
    skillsBehind: await skillsBehind(db, routine.projectId, custom, skills),
    factsBehind: routine.facts ? await factsBehind(db, routine, active.facts, proven.facts) : null,
  };
}

async function factsBehind(
  db: Db,
  { projectId }: ProvenRoutine,
  activated: number | null,
  proven: number | null,
): Promise<FactsBehind | null> {
  const { version: newest } = await readFacts(db, projectId);
  return newest > (activated ?? 0) ? { activated, proven, newest } : null;
}

async function refusalOf(
  db: Db,
  routine: ProvenRoutine,
  { organizationId, plan }: { organizationId: string; plan: Plan },
): Promise<Activation['reason']> {
  const { state, proofRunId } = routine;
  if (state === 'archived') return 'routine_archived';
  if (routine.blocked !== null) return 'definition_unreadable';
  if (state === 'active') return null;
  if (proofRunId === null) return routine.hasSucceeded === true ? 'own_variables_required' : 'successful_run_required';
  const isWindowOver = routine.endsAt !== null && isOver(routine, nextTimeFrom(routine, new Date(now())));
  if (isWindowOver) return 'schedule_ended';
  return (await mayActivate(db, organizationId, plan)) ? null : 'allowance_exceeded';
}

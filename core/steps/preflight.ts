import { connectionsReady, type CredentialSource } from '#core/connections/index.ts';
import { findUsableConnection, type ModelProviders } from '#core/model-connections/index.ts';
import type { ModelOption, ProjectModels } from '#core/models/index.ts';
import { unknownPlaceholders } from '#core/routines/index.ts';
import {
  resolveSkills,
  revisionsOf,
  type SkillCatalogue,
  type SkillRevisions,
} from '#core/skills/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { PreparedRun } from './begin-step.ts';
import { usedUp } from './stop.ts';
import type { GateVerdict } from '#core/gate/index.ts';
import { type Opening, renderPrompt } from '#core/prompt/index.ts';
import type { FailureReason } from '#core/runs/index.ts';

export interface PreflightDeps {
  readonly database: Db;
  readonly models: ProjectModels;
  readonly modelProviders: ModelProviders;
  readonly skills: SkillCatalogue;
  readonly credentials: CredentialSource;
  /** Returns true when routines of this model provider may run now. */
  readonly providerEnabled: (provider: string) => boolean;
}

/** A run that is ready for its next model call, with everything that the call needs. */
export interface Ready extends Opening {
  readonly option: ModelOption;
  /** Revisions of the skills in the text; null where an earlier step has rendered it. */
  readonly skillRevisions: SkillRevisions;
}

/** The reason why a run ends before its model is called. */
export interface Blocked {
  readonly reason: FailureReason;
  /** Detail beyond the reason. */
  readonly detail?: string;
}

/**
 * Checks everything that must hold before money is spent, asks the gate, and renders the prompt of the first step.
 * @param askGate called when all else holds, for its verdict
 * @throws what `askGate` throws
 */
export async function preflight(
  deps: PreflightDeps,
  run: PreparedRun,
  signal: AbortSignal,
  askGate: () => Promise<GateVerdict | null>,
): Promise<Ready | Blocked> {
  if (run.routineState === 'archived') return { reason: 'blocked_routine' };
  if (run.blocked !== null) return { reason: 'blocked_definition', detail: run.blocked };
  if (!deps.providerEnabled(run.model.provider)) return { reason: 'blocked_provider_disabled' };
  const blocked = await accountBlocked(deps, run);
  if (blocked !== undefined) return blocked;
  const option = await findModel(deps.models, run);
  if ('reason' in option) return option;
  if (run.prompt !== null && run.briefing !== null) {
    return { prompt: run.prompt, briefing: run.briefing, option, skillRevisions: null };
  }
  if (unknownPlaceholders(run.instructions, run.variables, run.gate !== null).length > 0) {
    return { reason: 'blocked_variable' };
  }
  const needed = run.tools.flatMap(({ connectionId }) => connectionId ?? []);
  if (!(await connectionsReady(deps, run.projectId, needed, signal))) {
    return { reason: 'blocked_connection' };
  }
  const gateVerdict = await askGate();
  const skills = await resolveSkills(
    deps.database,
    deps.skills,
    run.projectId,
    run.skills,
    run.trigger === 'manual' ? 'newest' : run.activeSkills,
  );
  const opening = renderPrompt({ ...run, skills, runId: run.id, gateVerdict });
  if (opening === undefined) return { reason: 'blocked_prompt_too_large' };
  return { ...opening, option, skillRevisions: revisionsOf(skills) };
}

/** Checks the account that the model is on. Issuing the call checks it once more, in the statement that issues it. */
async function accountBlocked(
  { database, modelProviders }: PreflightDeps,
  { projectId, model, modelSteps }: PreparedRun,
): Promise<Blocked | undefined> {
  if (model.connectionId === null) return undefined;
  const account = await findUsableConnection(
    database,
    modelProviders,
    projectId,
    model.connectionId,
  );
  if (account === undefined || account.provider !== model.provider) {
    return { reason: 'blocked_connection' };
  }
  const { notBefore } = account;
  if (notBefore === null || notBefore.getTime() <= Date.now()) return undefined;
  return usedUp(notBefore, modelSteps === 0);
}

async function findModel(models: ProjectModels, run: PreparedRun): Promise<ModelOption | Blocked> {
  try {
    const option = await models.find(run.projectId, run.model);
    if (option !== undefined) return option;
    const detail = models.explainAbsence(run.model);
    return { reason: 'blocked_model', ...(detail === undefined ? {} : { detail }) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'models_unavailable') {
      return { reason: 'blocked_models_unavailable', detail: error.message };
    }
    throw error;
  }
}

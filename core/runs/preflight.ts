import { connectionsReady, type CredentialSource } from '#core/connections/index.ts';
import type { ModelDirectory, ModelOption } from '#core/models/index.ts';
import { unknownPlaceholders } from '#core/routines/index.ts';
import { resolveSkills, type SkillCatalogue } from '#core/skills/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { RunContext } from './begin-step.ts';
import type { Opening } from './opening.ts';
import { renderPrompt } from './prompt.ts';
import type { FailureReason } from './states.ts';

export interface PreflightDeps {
  readonly database: Db;
  readonly models: ModelDirectory;
  readonly skills: SkillCatalogue;
  readonly credentials: CredentialSource;
  /** Tells whether routines of this model provider may run now. */
  readonly providerEnabled: (provider: string) => boolean;
}

/** Everything that a model call needs besides its run. */
export interface Ready extends Opening {
  readonly option: ModelOption;
}

/** Checks everything that must hold before money is spent, and renders the prompt of the first step. */
export async function preflight(
  deps: PreflightDeps,
  run: RunContext,
  signal: AbortSignal,
): Promise<Ready | { readonly reason: FailureReason }> {
  if (run.routineState === 'archived') return { reason: 'blocked_routine' };
  if (!deps.providerEnabled(run.model.provider)) return { reason: 'blocked_provider_disabled' };
  const option = await findModel(deps.models, run);
  if (typeof option === 'string') return { reason: option };
  if (run.prompt !== null) return { prompt: run.prompt, briefing: run.briefing, option };
  if (unknownPlaceholders(run.instructions, run.variables).length > 0) {
    return { reason: 'blocked_variable' };
  }
  const needed = run.tools.flatMap(({ connectionId }) => connectionId ?? []);
  if (!(await connectionsReady(deps, run.projectId, needed, signal))) {
    return { reason: 'blocked_connection' };
  }
  const skills = await resolveSkills(deps.database, deps.skills, run.projectId, run.skills);
  const opening = renderPrompt({ ...run, skills, runId: run.id });
  if (opening === undefined) return { reason: 'blocked_prompt_too_large' };
  return { ...opening, option };
}

async function findModel(
  models: ModelDirectory,
  run: RunContext,
): Promise<ModelOption | 'blocked_model' | 'blocked_models_unavailable'> {
  try {
    return (await models.find(run.model)) ?? 'blocked_model';
  } catch (error) {
    if (error instanceof AppError && error.code === 'models_unavailable') {
      return 'blocked_models_unavailable';
    }
    throw error;
  }
}

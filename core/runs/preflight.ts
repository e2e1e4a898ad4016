import { connectionsReady } from '#core/connections/index.ts';
import type { ModelDirectory, ModelOption } from '#core/models/index.ts';
import { resolveSkills } from '#core/skills/index.ts';
import { AppError } from '#lib/errors.ts';
import type { RunContext } from './begin-step.ts';
import { isOverBudget } from './budget.ts';
import type { ModelStepDeps } from './model-step.ts';
import { renderPrompt, unknownPlaceholders } from './prompt.ts';
import type { RunReason } from './states.ts';

/** What a model step is made with, once everything holds. */
export interface Ready {
  readonly prompt: string;
  readonly option: ModelOption;
}

/** Everything that must hold before money is spent. */
export async function preflight(
  deps: ModelStepDeps,
  run: RunContext,
  signal: AbortSignal,
): Promise<Ready | { readonly reason: RunReason }> {
  if (run.routineState === 'archived') return { reason: 'blocked_routine' };
  if (!deps.providerEnabled(run.model.provider)) return { reason: 'blocked_provider_disabled' };
  const option = await findModel(deps.models, run);
  if (typeof option === 'string') return { reason: option };
  if (run.prompt !== null) return { prompt: run.prompt, option };
  if (unknownPlaceholders(run.instructions, run.variables).length > 0) {
    return { reason: 'blocked_variable' };
  }
  if (await isOverBudget(deps.database, run)) return { reason: 'blocked_budget' };
  const needed = run.tools.map(({ connectionId }) => connectionId);
  if (!(await connectionsReady(deps, run.projectId, needed, signal))) {
    return { reason: 'blocked_connection' };
  }
  const skills = await resolveSkills(deps.database, deps.skills, run.projectId, run.skills);
  const prompt = renderPrompt({ ...run, skills, runId: run.id });
  return { prompt, option };
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

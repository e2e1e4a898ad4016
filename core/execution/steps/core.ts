import type { Admission } from '#core/execution/admission/index.ts';
import type { Core } from '#core/core.ts';
import type { ModelProviders } from '#core/models/providers/index.ts';
import type { ProjectModels } from '#core/models/directory/index.ts';
import type { SkillCatalogue } from '#core/authoring/skills/index.ts';
import type { ToolCallDeps } from '#core/integrations/tools/index.ts';
import type { ModelCaller } from './model-call.ts';

/** The core with what the steps of a run take from other subjects. */
export interface StepsCore extends Core, ToolCallDeps {
  readonly admission: Admission;
  readonly caller: ModelCaller;
  readonly modelProviders: ModelProviders;
  readonly models: ProjectModels;
  readonly skills: SkillCatalogue;
}

export {
  createAbilityStore,
  type AbilityStore,
  type ModelAbilities,
  type ServedModel,
} from './abilities.ts';
export { createModelDirectory } from './directory.ts';
export { MODEL_PROVIDERS, type ModelOption, type ModelReference } from './model.ts';
export { providerSwitch } from './providers.ts';
export { createProjectModels, type ProjectModels } from './project-models.ts';

export {
  createAbilityStore,
  type AbilityStore,
  type ModelAbilities,
  type ServedModel,
} from './abilities.ts';
export { createFigureStore, patchFigures } from './by-hand.ts';
export { createModelDirectory } from './directory.ts';
export { createKnownNames } from './known-names.ts';
export {
  FIGURE_ORIGINS,
  MODEL_PROVIDERS,
  type ModelOption,
  type ModelReference,
  providerSwitch,
} from './model.ts';
export { createProjectModels, type ProjectModels } from './project-models.ts';

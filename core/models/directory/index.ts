export { createAbilityStore, forgetLessons, type AbilityStore } from './abilities.ts';
export { createFigureStore, patchFigures } from './by-hand.ts';
export { createKnownNames, createModelDirectory } from './directory.ts';
export { FIGURE_ORIGINS, MODEL_PROVIDERS, providerSwitch, type ModelOption, type ModelReference } from './model.ts';
export { createProjectModels, type ProjectModels } from './project-models.ts';

export { createAbilityStore, forgetLessons, type AbilityStore } from './abilities.ts';
export { createFigureStore, patchFigures } from './by-hand.ts';
export { createModelDirectory, createProjectModels, type ProjectModels } from './directory.ts';
export { FIGURE_ORIGINS, MODEL_PROVIDERS, providerSwitch, type ModelOption, type ModelReference } from './model.ts';
export { createKnownNames } from './source.ts';

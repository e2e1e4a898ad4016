export { createModelDirectory, type ModelDirectory } from './directory.ts';
export { MODEL_PROVIDERS, type ModelOption, type ModelReference } from './model.ts';
export { providerSwitch } from './providers.ts';

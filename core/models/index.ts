export {
  createModelDirectory,
  type DirectorySettings,
  type ModelDirectory,
  type ModelList,
} from './directory.ts';
export {
  MODEL_PROVIDERS,
  sameModel,
  type ModelOption,
  type ModelPrices,
  type ModelProvider,
  type ModelReference,
} from './model.ts';
export { providerSwitch, type ProviderFlags } from './providers.ts';

export {
  AUTH_KIND,
  loadProviderFiles,
  ProviderFileError,
  readProviderFile,
  SLOT_LETTER,
  SLOTS,
  type LoadedProvider,
  type ProviderSettings,
  type ProviderSlot,
} from './read.ts';
export { allowedRequests, valueAt, valuesAt, type AllowedRequest, type Protocol } from './protocols.ts';
export type { ProviderFile } from './schema.ts';

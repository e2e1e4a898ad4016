export { loadProviderFiles, type ProviderSettings } from './load.ts';
export { ProviderFileError, readProviderFile, type LoadedProvider } from './read.ts';
export { valuesAt, valueAt } from './paths.ts';
export { SLOTS, SLOT_LETTER, type ProviderSlot } from './slots.ts';
export { allowedRequests, type AllowedRequest, type Protocol } from './protocols.ts';
export type { ProviderFile } from './schema.ts';

export {
  MODEL_CONNECTION_ERRORS,
  MODEL_CONNECTION_STATES,
  type ModelConnection,
  type ModelConnectionError,
  type ModelConnectionRef,
  type ModelConnectionState,
} from './connection.ts';
export {
  loadModelProviders,
  type ModelProvider,
  type ModelProviders,
} from './providers/providers.ts';
export {
  readRuntimeLease,
  renewRuntimeLease,
  takeRuntimeLease,
  type RuntimeLease,
} from './runtime/lease.ts';
export { createModelRuntime, openModelRuntime, type ModelRuntime } from './runtime/runtime.ts';
export {
  claimStaleCatalogues,
  listOfferedModels,
  recordCatalogue,
  type CatalogueModel,
  type OfferedModel,
} from './store/catalogue.ts';
export { isUsable } from './store/columns.ts';
export { callCredential, openCredential, type ModelCredential } from './store/credential.ts';
export {
  findUsableConnection,
  listModelConnections,
  listUsableConnections,
  readModelConnection,
  type UsableConnection,
} from './store/queries.ts';
export { markNotReady, recordUse, waitUntil } from './store/states.ts';

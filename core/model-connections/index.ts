export type { AccountRoutines } from './account-routines.ts';
export { issueCall, type IssuedCall } from './calls/issue.ts';
export {
  callCounted,
  callHolds,
  callsOfRunOver,
  callSucceeded,
  endCall,
  expireCalls,
} from './calls/outcome.ts';
export { cancelAtRuntime, endOpenCalls } from './calls/revoke.ts';
export { refreshCatalogues, type CatalogueDeps } from './catalogue/refresh.ts';
export {
  createModelCredentials,
  type CallCredential,
  type ModelCredentials,
} from './credentials/source.ts';
export {
  MODEL_CONNECTION_ERRORS,
  MODEL_CONNECTION_STATES,
  type ModelConnection,
  type ModelConnectionError,
  type ModelConnectionRef,
} from './connection.ts';
export {
  loadModelProviders,
  type ModelProvider,
  type ModelProviders,
} from './providers/providers.ts';
export { readRuntimeLease, takeRuntimeLease } from './runtime/lease.ts';
export { keepRuntimeLease } from './runtime/keeper.ts';
export { createModelRuntime, openModelRuntime, type ModelRuntime } from './runtime/runtime.ts';
export {
  listModelsOfAccount,
  listOfferedModels,
  recordCatalogue,
  type OfferedModel,
} from './store/catalogue.ts';
export { notBeforeOf } from './store/columns.ts';
export { findUsableConnection, listModelConnections } from './store/queries.ts';
export { markNotReady, waitUntil } from './store/states.ts';
export { sweepModelConnections, type ModelHousekeepingDeps } from './housekeeping.ts';
export { createServerDirectory, type FindServer } from './oauth/server.ts';
export {
  CANNOT_CONNECT,
  describeProvider,
  describeProviders,
  type AuthType,
  type ProviderDescriptor,
} from './providers/descriptors.ts';
export {
  revokeAccountsOfMember,
  revokeAccountsOfProject,
  type RevokeDeps,
  revokeModelConnection,
} from './revoke/revoke.ts';
export { ATTEMPT_STATES } from './sign-in/attempt.ts';
export { connectModelAccountWithKey } from './sign-in/connect-with-key.ts';
export {
  cancelDeviceSignIn,
  pollDeviceSignIn,
  startDeviceSignIn,
  type DeviceAttempt,
} from './sign-in/device.ts';
export { SIGN_IN_FAILURES } from './sign-in/failure.ts';
export { completeOAuthSignIn, startOAuthSignIn } from './sign-in/oauth.ts';
export { readReturnedAddress, type ReturnedParameters } from './sign-in/returned.ts';

export {
  accountsOfMember,
  accountsOfProject,
  revokeAccount,
  type RevokeDeps,
} from './revoke/revoke.ts';
export { issueCall, type IssuedCall } from './calls/issue.ts';
export {
  callCounted,
  callHolds,
  callsOfRunOver,
  callSucceeded,
  cancelAtRuntime,
  endCall,
  expireCalls,
} from './calls/outcome.ts';
export { refreshCatalogues, type CatalogueDeps } from './catalogue.ts';
export {
  createModelCredentials,
  type CallCredential,
  type ModelCredentials,
} from './credentials.ts';
export {
  MODEL_CONNECTION_ERRORS,
  MODEL_CONNECTION_STATES,
  type ModelConnection,
  type ModelConnectionError,
  type ModelConnectionRef,
  type RevokedReason,
} from './connection.ts';
export {
  loadModelProviders,
  type ModelProvider,
  type ModelProviders,
} from './providers/providers.ts';
export { keepRuntimeLease, openModelRuntime, type ModelRuntime } from './runtime/runtime.ts';
export { listModelsOfAccount, listOfferedModels, type OfferedModel } from './store/catalogue.ts';
export {
  findUsableConnection,
  listModelConnections,
  markNotReady,
  notBeforeOf,
  readModelConnection,
  waitUntil,
} from './store/queries.ts';
export { sweepModelConnections, type ModelHousekeepingDeps } from './revoke/outbox.ts';
export { createServerDirectory } from './oauth/server.ts';
export {
  CANNOT_CONNECT,
  describeProvider,
  describeProviders,
  type AuthType,
  type ProviderDescriptor,
} from './providers/descriptors.ts';
export { ATTEMPT_STATES } from './sign-in/attempt.ts';
export { endAttemptsOfProject } from './sign-in/attempt-queries.ts';
export { connectModelAccountWithKey } from './sign-in/connect-with-key.ts';
export {
  cancelDeviceSignIn,
  pollDeviceSignIn,
  startDeviceSignIn,
  type DeviceAttempt,
} from './sign-in/device.ts';
export { SIGN_IN_FAILURES } from './sign-in/failure.ts';
export {
  completeOAuthSignIn,
  readReturnedAddress,
  startOAuthSignIn,
  type ReturnedParameters,
} from './sign-in/oauth.ts';

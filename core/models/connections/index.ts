export {
  accountKinds,
  listModelsOfAccount,
  listOfferedModels,
  sweepModelConnections,
  type OfferedModel,
} from './catalogue.ts';
export type { AccountsCore } from './core.ts';
export {
  MODEL_CONNECTION_ERRORS,
  MODEL_CONNECTION_STATES,
  type ModelConnection,
  type ModelConnectionError,
  type ModelConnectionRef,
  type RevokedReason,
} from './connection.ts';
export { createModelCredentials, type CallCredential, type ModelCredentials } from './credentials.ts';
export { createServerDirectory } from './oauth/server.ts';
export { accountsOfMember, accountsOfProject, revokeAccount } from './revoke.ts';
export { ATTEMPT_STATES } from './sign-in/attempt.ts';
export { endAttemptsOfProject } from './sign-in/attempt-queries.ts';
export { connectModelAccountWithKey } from './sign-in/connect-with-key.ts';
export { cancelDeviceSignIn, pollDeviceSignIn, startDeviceSignIn, type DeviceAttempt } from './sign-in/device.ts';
export { SIGN_IN_FAILURES } from './sign-in/failure.ts';
export {
  completeOAuthSignIn,
  readReturnedAddress,
  startOAuthSignIn,
  type ReturnedParameters,
} from './sign-in/oauth.ts';
export {
  findUsableConnection,
  isUsable,
  listModelConnections,
  mailOwnerOfEmptyAccount,
  markNotReady,
  notBeforeOf,
  readModelConnection,
  useAccount,
  waitUntil,
} from './store/queries.ts';

export { authorizationRequest } from './authorization-request.ts';
export { authenticateClient } from './client-authentication.ts';
export { newState } from './flows.ts';
export { completeSignIn } from './complete.ts';
export {
  CLIENT_METADATA_PATH,
  clientMetadataDocument,
  clientMetadataUrlOf,
} from './client-metadata.ts';
export { forgetSignIns } from './flows.ts';
export { revokeStored, type RevocationDeps } from './revoke.ts';
export { redirectUriOf, type SignInDeps } from './sign-in-deps.ts';
export { createOAuthSource } from './source.ts';
export { startSignIn } from './start.ts';

export { splitAddress } from './store/address.ts';
export {
  CONNECTION_AUTHS,
  CONNECTION_ERRORS,
  CONNECTION_KINDS,
  CONNECTION_STATES,
  type Connection,
} from './store/connection.ts';
export {
  createCredentialSource,
  type CredentialSource,
  type StaticCredentials,
} from './store/credential-source.ts';
export {
  connectionColumns,
  insertConnection,
  listConnections,
  lockConnection,
  markReady,
  readConnection,
} from './store/queries.ts';
export { readSealedCredentials } from './store/credentials.ts';
export { endSignInsOf } from './departed.ts';
export { eraseConnections, revokeErased, type ErasedConnection } from './erase.ts';
export { deleteConnection } from './remove.ts';
export type { RoutineEditor } from './routines.ts';
export { sealPlainQueries } from './store/seal-queries.ts';
export { createConnectionSecrets, type ConnectionSecrets } from './store/secrets.ts';
export { connectionsReady } from './preflight.ts';
export { changeConnection, createToolServer, toolServerOf } from './tool-servers/index.ts';
export {
  authenticateClient,
  authorizationRequest,
  clientMetadataDocument,
  clientMetadataUrlOf,
  completeSignIn,
  createOAuthSource,
  createRenewals,
  forgetSignIns,
  newState,
  notRenewed,
  redirectUriOf,
  renewUnderLease,
  startSignIn,
  type RevocationDeps,
  type SignInDeps,
} from './oauth/index.ts';
export {
  CATEGORIES,
  connectWithKey,
  listAccounts,
  loadProviders,
  type Provider,
  type ProviderCatalogue,
} from './providers/index.ts';

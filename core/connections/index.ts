export { splitAddress } from './store/address.ts';
export {
  CONNECTION_AUTHS,
  CONNECTION_ERRORS,
  CONNECTION_KINDS,
  CONNECTION_STATES,
  type Connection,
} from './store/connection.ts';
export {
  connectionsReady,
  createCredentialSource,
  type CredentialSource,
  type StaticCredentials,
} from './store/credential-source.ts';
export {
  connectionColumns,
  listConnections,
  lockConnection,
  markReady,
  readConnection,
} from './store/queries.ts';
export { createConnectionSecrets, type ConnectionSecrets } from './store/credentials.ts';
export {
  endSignInsOf,
  eraseConnection,
  eraseConnections,
  revokeErased,
  type EndedSignIn,
  type ErasedConnection,
} from './remove.ts';
export { changeConnection } from './tool-servers/change.ts';
export { createToolServer, toolServerOf } from './tool-servers/create.ts';
export { authenticateClient } from './oauth/authorization-server.ts';
export { authorizationRequest, startSignIn } from './oauth/start.ts';
export { clientMetadataDocument, clientMetadataUrlOf, redirectUriOf } from './oauth/client.ts';
export { completeSignIn } from './oauth/complete.ts';
export { createOAuthSource } from './oauth/source.ts';
export { forgetSignIns } from './oauth/flows.ts';
export type { RevocationDeps } from './oauth/revoke.ts';
export type { SignInDeps } from './oauth/sign-in.ts';
export { CATEGORIES, type Provider } from './providers/provider.ts';
export { connectWithKey } from './providers/connect-with-key.ts';
export { listAccounts } from './providers/accounts.ts';
export { loadProviders, type ProviderCatalogue } from './providers/catalogue.ts';

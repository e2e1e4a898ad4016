export type { ConnectionsCore } from './core.ts';
export { createConnectionSecrets, splitAddress } from './store/credentials.ts';
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
  toolServerOf,
  type StaticCredentials,
} from './store/credential-source.ts';
export { connectionColumns, listConnections, lockConnection, markReady, readConnection } from './store/queries.ts';
export { endSignInsOf, eraseConnection, eraseConnections, revokeErased } from './remove.ts';
export { changeConnection } from './tool-servers/change.ts';
export { createToolServer } from './tool-servers/create.ts';
export { authorizationRequest, startSignIn } from './oauth/start.ts';
export { clientMetadataDocument, clientMetadataUrlOf, redirectUriOf } from './oauth/client.ts';
export { completeSignIn } from './oauth/complete.ts';
export { createOAuthSource } from './oauth/source.ts';
export { forgetSignIns, untilMade, type Made } from './oauth/flows.ts';
export { CATEGORIES, loadProviders, type Provider, type ProviderCatalogue } from './providers/catalogue.ts';
export { connectWithKey } from './providers/connect-with-key.ts';
export { listAccounts } from './providers/accounts.ts';

export {
  CONNECTION_AUTHS,
  CONNECTION_ERRORS,
  CONNECTION_KINDS,
  CONNECTION_STATES,
  type Connection,
  type ConnectionAuth,
  type ConnectionError,
  type ConnectionKind,
  type ConnectionState,
  type ServerInfo,
} from './connection.ts';
export {
  createCredentialSource,
  type CredentialDeps,
  type CredentialSource,
} from './credential-source.ts';
export {
  insertConnection,
  listConnections,
  lockConnection,
  markNotReady,
  readConnection,
  readSealedCredentials,
  writeSealedCredentials,
  type NewConnection,
  type SealedCredentials,
} from './queries.ts';
export { createConnectionSecrets, type ConnectionSecrets } from './secrets.ts';

export { splitAddress } from './address.ts';
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
export { changeConnection, type ConnectionChange } from './change.ts';
export { createToolServer, refusal, type NewToolServer } from './create.ts';
export {
  createCredentialSource,
  type CredentialDeps,
  type CredentialSource,
  type StaticCredentials,
} from './credential-source.ts';
export { checkToolServer } from './mcp/check.ts';
export { ToolServerFault, type ToolServerFaultKind } from './mcp/fault.ts';
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
export { deleteConnection, type RemovedConnection } from './remove.ts';
export { sealPlainQueries } from './seal-queries.ts';
export { createConnectionSecrets, type ConnectionSecrets } from './secrets.ts';
export { changePolicy, type PolicyPatch } from './tools/change-policy.ts';
export { discoverTools, type Discovery } from './tools/discover.ts';
export { isRepeatable, POLICY_STATES, type PolicyState, type ToolPolicy } from './tools/policy.ts';
export { listPolicies } from './tools/queries.ts';
export { targetJson, targetOf, type TargetJson, type ToolTarget } from './tools/target.ts';
export { createToolSessions, type ToolSessions } from './mcp/sessions.ts';
export {
  callConfirmedTool,
  NOT_AUTOMATIC,
  type ToolCall,
  type ToolCallDeps,
  type ToolCallOutcome,
} from './tools/call.ts';
export {
  offeredTools,
  offeredToolsJson,
  type OfferedTool,
  type OfferedToolJson,
} from './tools/offered.ts';
export { connectionsReady } from './tools/preflight.ts';
export {
  CLIENT_METADATA_PATH,
  clientMetadataDocument,
  clientMetadataUrlOf,
  completeSignIn,
  createOAuthSource,
  redirectUriOf,
  startSignIn,
  type SignInDeps,
  type SignInRequest,
} from './oauth/index.ts';
export {
  CATEGORIES,
  connectWithKey,
  listAccounts,
  loadProviders,
  type Provider,
  type ProviderCatalogue,
} from './providers/index.ts';

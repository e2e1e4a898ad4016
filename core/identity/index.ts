export { createApiKey, listApiKeys, revokeApiKey, touchApiKey, type ApiKey } from './api-keys.ts';
export {
  authOptions,
  CLIENT_ADDRESS_HEADER,
  createAuth,
  type Auth,
  type AuthSettings,
  type Session,
} from './auth.ts';
export {
  authenticateKey,
  countUse,
  findMemberships,
  type KeyCredential,
  type ProjectMembership,
  type WindowUse,
} from './credentials.ts';
export {
  createOrganization,
  createProject,
  ensureOrganization,
  listOrganizations,
  listProjects,
  type Organization,
  type Project,
  type Role,
} from './organizations.ts';
export { DEFAULT_SCOPES, SCOPES, type Scope } from './scopes.ts';

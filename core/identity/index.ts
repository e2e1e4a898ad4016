export { createApiKey, listApiKeys, revokeApiKey, touchApiKey, type ApiKey } from './api-keys.ts';
export { authOptions, CLIENT_ADDRESS_HEADER, createAuth, type Auth } from './auth.ts';
export {
  authenticateKey,
  countUse,
  countWithin,
  findMemberships,
  type WindowUse,
} from './credentials.ts';
export { forgetAuthentication } from './expired.ts';
export {
  createOrganization,
  createProject,
  listOrganizations,
  listProjects,
  paidPlanOf,
  type Organization,
  type PaidPlan,
  type Project,
  type Role,
} from './organizations.ts';
export {
  contentDaysOf,
  contentDaysOfAll,
  hasOwnRetention,
  runDaysOf,
  type RetentionRule,
} from './retention.ts';
export {
  patchOrganization,
  patchProject,
  readOrganization,
  readProject,
  type Budget,
  type OrganizationSettings,
  type ProjectSettings,
} from './settings.ts';
export { stillStands } from './standing.ts';
export { DEFAULT_SCOPES, SCOPES, type Scope } from './scopes.ts';

export {
  createApiKey,
  listApiKeys,
  readApiKey,
  revokeApiKey,
  revokeKeysOf,
  SCOPES,
  touchApiKey,
  type Scope,
} from './api-keys.ts';
export { markErased, markOrganizationDeleted, markProjectDeleted, projectsToErase } from './deletion.ts';
export {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  forgetInvitations,
  isInvited,
  listInvitations,
} from './invitations.ts';
export {
  changeRole,
  demandProofOf,
  endMembership,
  leaveOrganization,
  listMembers,
  MAX_MEMBERS,
  organizationsOf,
} from './members.ts';
export {
  ensureOrganization,
  foundOrganization,
  listOrganizations,
  type Organization,
  type PaidPlan,
} from './organizations.ts';
export { createProject, holdProject, listProjects, type Project } from './projects.ts';
export * as rows from './writes.ts';
export { admitted, assertAdmin, lacksSecondFactor, lockOrganization, type Role } from './roles.ts';

export {
  revokeAccountsOfMember,
  revokeAccountsOfProject,
  revokeModelConnection,
  type AccountDeps,
} from './accounts.ts';
export { deleteConnection } from './connection.ts';
export { deleteOrganization, deleteProject, eraseDeletedProjects } from './delete.ts';
export { leaveOrganizations, removeMember } from './departure.ts';

export { revokeAccountsOfMember, revokeAccountsOfProject, revokeModelConnection } from './accounts.ts';
export { deleteConnection } from './connection.ts';
export { deleteOrganization, deleteProject, eraseDeletedProjects } from './delete.ts';
export { endProgramsOf, endSessionsOfMember, leaveOrganizations, removeMember } from './departure.ts';

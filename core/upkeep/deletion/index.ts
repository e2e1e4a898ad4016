export { revokeAccountsOfMember, revokeAccountsOfProject, revokeModelConnection } from './accounts.ts';
export { deleteConnection } from './connection.ts';
export { deleteOrganization, deleteProject, eraseDeletedProjects } from './delete.ts';
export { leaveOrganizations, removeMember } from './departure.ts';
export { endProgramsOf, endSessionsOfMember } from './programs.ts';

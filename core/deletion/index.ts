export { deleteOrganization, deleteProject, type DeletionDeps } from './delete.ts';
export { eraseDeletedProjects } from './erase.ts';

export { deleteOrganization, deleteProject, type DeletionDeps } from './delete.ts';

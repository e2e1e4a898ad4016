export {
  deleteOrganization,
  deleteProject,
  eraseDeletedProjects,
  type DeletionDeps,
} from './delete.ts';

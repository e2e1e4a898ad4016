import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';

export interface ProjectGroup {
  readonly organization: Shape<'Organization'>;
  readonly projects: readonly Shape<'Project'>[];
}

/** Reads the projects of this person by organization, and the open one. */
export function useProjects() {
  const projectId = useProjectId();
  const organizations = useRead('/v1/organizations', { query: { limit: 200 } }, { staleMs: 60_000 });
  const projects = useRead('/v1/projects', { query: { limit: 200 } }, { staleMs: 60_000 });
  const project = projects.data?.find(({ id }) => id === projectId);
  const groups: readonly ProjectGroup[] = (organizations.data ?? []).map((organization) => ({
    organization,
    projects: (projects.data ?? []).filter((each) => each.organizationId === organization.id),
  }));
  return {
    groups,
    project,
    organization: organizations.data?.find(({ id }) => id === project?.organizationId),
  };
}

/** Tells whether the person is an owner or admin of the project's organization; undefined until that is known. */
export function useMayWrite(): boolean | undefined {
  const role = useProjects().organization?.role;
  return role && role !== 'member';
}

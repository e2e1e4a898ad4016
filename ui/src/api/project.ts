import { createContext, use } from 'react';

const ProjectContext = createContext<string | undefined>(undefined);

/** Gives the project of the address to the pages below it. */
export const ProjectProvider = ProjectContext.Provider;

/** Returns the project of this page; undefined on pages of an account. */
export function useOptionalProjectId(): string | undefined {
  return use(ProjectContext);
}

/**
 * Returns the project of this page.
 * @throws outside of `/p/$projectId`
 */
export function useProjectId(): string {
  const projectId = useOptionalProjectId();
  if (projectId === undefined) throw new Error('This page is outside of a project.');
  return projectId;
}

/** Scope of data that belongs to a person and to no project. */
export const ACCOUNT = 'account';

/** Returns the cache key of a read, so that two projects never share a response. */
export function keyOf(projectId: string | undefined, path: string, input: object): readonly unknown[] {
  return [ACCOUNT_PATHS.test(path) ? ACCOUNT : (projectId ?? ACCOUNT), path, input];
}

/** Matches the paths of a person's operations, which do not depend on the open project. */
const ACCOUNT_PATHS = /^\/(auth|public)\/|^\/v1\/(organizations|projects|sessions|invitations)(\/|$)/;

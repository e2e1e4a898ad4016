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

/** Matches the operations of a person, whichever project is open. */
const ACCOUNT_PATHS =
  /^\/(auth|public)\/|^\/v1\/(organizations|projects|sessions|invitations)(\/|$)/;

export function isAccountPath(path: string): boolean {
  return ACCOUNT_PATHS.test(path);
}

import { redirect } from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import { call } from '#ui/api/call.ts';
import { sessionQuery } from '#ui/api/session.ts';

const KEY = 'project';

export function rememberProject(projectId: string): void {
  localStorage.setItem(KEY, projectId);
}

/** Returns the project that was open last in this browser. The person may have left it since. */
export function keptProject(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined;
}

/** Leads a user who is not signed in to the sign-in page, which leads back here: throws the redirect to it. */
export async function requireSession(client: QueryClient, href: string): Promise<void> {
  const session = await client.ensureQueryData(sessionQuery());
  if (session === null) throw redirect({ to: '/sign-in', search: { to: href } });
}

/**
 * Finds the project that was open last in this browser, else the newest one; undefined without a project.
 * @throws the redirect to the sign-in page without a session
 */
export async function lastProject(client: QueryClient, href: string): Promise<string | undefined> {
  await requireSession(client, href);
  const { data: projects } = await call('get', '/v1/projects', { query: { limit: 200 } });
  const kept = keptProject();
  return (projects.find(({ id }) => id === kept) ?? projects[0])?.id;
}

const RETURN_KEY = 'returnTo';

/** Leaves for a provider's page. A user who returns gets to this page again. */
export function leaveFor(address: string): void {
  sessionStorage.setItem(RETURN_KEY, location.pathname);
  location.assign(address);
}

/** Takes the path from which a provider's page was opened in this tab. */
export function takeReturnPath(): string | undefined {
  const kept = sessionStorage.getItem(RETURN_KEY) ?? undefined;
  sessionStorage.removeItem(RETURN_KEY);
  return kept?.startsWith('/p/') === true ? kept : undefined;
}

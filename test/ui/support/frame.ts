import { answer, type Answer } from './fake-api.ts';
import { sample } from './sample.ts';

export const USER = sample('User', { name: 'Ada', email: 'ada@example.com' });
export const PROJECT = sample('ProjectDetail', { name: 'Website' });
export const ORGANIZATION = sample('Organization', { id: PROJECT.organizationId, name: 'Acme', role: 'owner' });
/** Base address of the project's pages. */
export const AT = `/p/${PROJECT.id}`;

/** The answers for the frame around every page of a project. */
export const FRAME: readonly Answer[] = [
  answer('get', '/auth/get-session', { session: sample('PresentSession', {}), user: USER }),
  answer('get', '/v1/projects/{projectId}', PROJECT),
  answer('get', '/v1/projects', [sample('Project', { name: PROJECT.name, organizationId: PROJECT.organizationId })]),
  answer('get', '/v1/organizations', [ORGANIZATION]),
];

/** Returns a past instant, as the API writes it. */
export function ago(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString();
}

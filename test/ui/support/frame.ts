import { answer, type Answer } from './fake-api.ts';
import { sample } from './sample.ts';

export const USER = sample('User', { name: 'Ada', email: 'ada@example.com' });
export const PROJECT = sample('ProjectDetail', { name: 'Website' });
export const ORGANIZATION = sample('Organization', { id: PROJECT.organizationId, name: 'Acme', role: 'owner' });
/** Address of the pages of the project. */
export const AT = `/p/${PROJECT.id}`;

/** The answers that the frame around every page of a project reads. */
export const FRAME: readonly Answer[] = [
  answer('get', '/auth/get-session', { session: sample('PresentSession', {}), user: USER }),
  answer('get', '/v1/projects/{projectId}', PROJECT),
  answer('get', '/v1/projects', [sample('Project', { name: PROJECT.name, organizationId: PROJECT.organizationId })]),
  answer('get', '/v1/organizations', [ORGANIZATION]),
];

/** The instant so many minutes ago, as the API writes it. */
export function ago(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString();
}

import { randomBytes } from 'node:crypto';
import { SCOPES } from '#core/identity/index.ts';
import { ApiClient } from './client.ts';
import type { Service } from './service.ts';

export interface Person {
  readonly email: string;
  /** Calls with the session cookie and the right Origin. */
  readonly session: ApiClient;
  readonly userId: string;
  readonly projectId: string;
  readonly organizationId: string;
  /** A key of the person's project; all scopes unless named. */
  key(scopes?: readonly string[]): Promise<ApiClient>;
}

/** Signs a new person up, over HTTP, as the user interface would. */
export async function signUp(service: {
  readonly url: string;
  readonly config: Pick<Service['config'], 'UI_ORIGIN'>;
}): Promise<Person> {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const response = await fetch(`${service.url}/auth/sign-up/email`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Origin: service.config.UI_ORIGIN,
      // The sign-up limit is per address; each person of a test comes from another one.
      'X-Forwarded-For': `203.0.113.${randomBytes(1)[0]}`,
    },
    body: JSON.stringify({ email, password: PASSWORD, name: 'Test Person' }),
  });
  if (!response.ok)
    throw new Error(`sign-up answered ${response.status}: ${await response.text()}`);
  const { user } = (await response.json()) as { user: { id: string } };
  const cookie = cookieOf(response);
  const session = new ApiClient(service.url, { Cookie: cookie, Origin: service.config.UI_ORIGIN });
  const { data: projects } = await session.get('/v1/projects');
  const { id: projectId, organizationId } = projects[0];
  return {
    email,
    session,
    userId: user.id,
    projectId,
    organizationId,
    async key(scopes = SCOPES) {
      const created = await session
        .with({ 'X-Project-Id': projectId })
        .post('/v1/api-keys', { name: 'test', scopes });
      return new ApiClient(service.url, { Authorization: `Bearer ${created.data.key}` });
    },
  };
}

/** Another session of a person, as in another browser. */
export async function signInAgain(
  service: Parameters<typeof signUp>[0],
  { email, projectId }: Pick<Person, 'email' | 'projectId'>,
): Promise<ApiClient> {
  const { UI_ORIGIN: origin } = service.config;
  const response = await fetch(`${service.url}/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: origin },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  if (!response.ok)
    throw new Error(`sign-in answered ${response.status}: ${await response.text()}`);
  const Cookie = cookieOf(response);
  return new ApiClient(service.url, { Cookie, Origin: origin, 'X-Project-Id': projectId });
}

const PASSWORD = 'correct-horse-battery';

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

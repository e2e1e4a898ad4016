import { randomBytes } from 'node:crypto';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { ApiClient } from './client.ts';
import type { Service } from './service.ts';

export interface Person {
  readonly email: string;
  /** Calls with the session cookie and the right Origin. */
  readonly session: ApiClient;
  readonly userId: string;
  readonly projectId: string;
  readonly organizationId: string;
  /** Creates a key of the person's project, by default with all scopes. */
  key(scopes?: readonly string[]): Promise<ApiClient>;
}

interface Reachable {
  readonly url: string;
  readonly config: Pick<Service['config'], 'UI_ORIGIN'>;
}

/** Signs a new person up and in over HTTP, like the user interface. */
export async function signUp(service: Reachable, email = newEmail()): Promise<Person> {
  await post(service, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Test Person' });
  return signIn(service, email);
}

export function newEmail(): string {
  return `${randomBytes(6).toString('hex')}@example.com`;
}

/** Signs in a person who has an account. */
export async function signIn(service: Reachable, email: string, password = PASSWORD): Promise<Person> {
  const response = await post(service, '/auth/sign-in/email', { email, password });
  const { user } = (await response.json()) as { user: { id: string } };
  const cookie = cookieOf(response);
  const session = new ApiClient(service.url, { Cookie: cookie, Origin: service.config.UI_ORIGIN });
  const { data: projects } = await session.get('/v1/projects');
  const { id: projectId, organizationId } = projects.at(-1);
  return {
    email,
    session,
    userId: user.id,
    projectId,
    organizationId,
    async key(scopes = SCOPES) {
      const created = await session.with({ 'X-Project-Id': projectId }).post('/v1/api-keys', { name: 'test', scopes });
      return new ApiClient(service.url, { Authorization: `Bearer ${created.data.key}` });
    },
  };
}

/** Opens another session of a person, as in another browser. */
export async function signInAgain(
  service: Reachable,
  { email, projectId }: Pick<Person, 'email' | 'projectId'>,
): Promise<ApiClient> {
  const response = await post(service, '/auth/sign-in/email', { email, password: PASSWORD });
  const { UI_ORIGIN: origin } = service.config;
  const Cookie = cookieOf(response);
  return new ApiClient(service.url, { Cookie, Origin: origin, 'X-Project-Id': projectId });
}

async function post(service: Reachable, path: string, body: object): Promise<Response> {
  const response = await postAuth(service, path, body);
  if (!response.ok) {
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  }
  return response;
}

/** Posts like the user interface, from a new address, because limits are per address. */
export function postAuth(
  service: Reachable,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Origin: service.config.UI_ORIGIN,
      ...fromElsewhere(),
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

/** Returns headers with an address that no other request used, because limits are per address. */
export function fromElsewhere(): Record<string, string> {
  return { 'X-Forwarded-For': `203.0.${randomBytes(1)[0]}.${randomBytes(1)[0]}` };
}

export const PASSWORD = 'correct-horse-battery';

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

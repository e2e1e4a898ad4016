import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

export const ACCOUNT = { email: 'demo@example.com', password: 'demo-password', name: 'Demo' };

/** Calls the API and returns the data of its response. @throws for every response but a success */
export type Call = (method: string, target: string, body?: unknown) => Promise<unknown>;

export function caller(baseUrl: string, headers: Readonly<Record<string, string>>): Call {
  return async (method, target, body) => {
    const response = await fetch(`${baseUrl}${target}`, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target} answered ${response.status}: ${text}`);
    return z.object({ data: z.unknown() }).parse(JSON.parse(text)).data;
  };
}

/** The demo account, signed in. */
export interface Person {
  /** The project that was created with the account. */
  readonly own: { readonly id: string; readonly organizationId: string };
  readonly call: Call;
  inProject(projectId: string): Call;
}

const projectList = z.array(z.object({ id: z.string(), organizationId: z.string() }));

/** Signs the demo account in, after a sign-up if the account does not exist. */
export async function enter(
  baseUrl: string,
  { uiOrigin, mail }: { readonly uiOrigin: string; readonly mail: string },
): Promise<Person> {
  const Cookie = await signIn(baseUrl, { uiOrigin, mail });
  const headers = { Cookie, Origin: uiOrigin };
  const call = caller(baseUrl, headers);
  // The list is newest first, so the project of the sign-up is the last.
  const own = projectList.parse(await call('GET', '/v1/projects?limit=200')).at(-1);
  if (own === undefined) throw new Error('The demo account has no project.');
  const inProject = (id: string) => caller(baseUrl, { ...headers, 'X-Project-Id': id });
  return { own, call, inProject };
}

const createdKey = z.object({ key: z.string() });

/** Creates a key with the scopes that a program needs for routines. */
export async function createKey(call: Call): Promise<string> {
  const scopes = [
    'models:read',
    ...['routines', 'runs', 'connections'].flatMap((subject) => [`${subject}:read`, `${subject}:write`]),
  ];
  return createdKey.parse(await call('POST', '/v1/api-keys', { name: 'demo', scopes })).key;
}

/** Signs the demo account up if it does not exist, confirms its address by the mail, and signs it in. */
async function signIn(baseUrl: string, { uiOrigin, mail }: { uiOrigin: string; mail: string }): Promise<string> {
  const post = (target: string, body: object) =>
    fetch(`${baseUrl}${target}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: uiOrigin },
      body: JSON.stringify(body),
    });
  const { name: _name, ...credentials } = ACCOUNT;
  await post('/auth/sign-up/email', ACCOUNT);
  let response = await post('/auth/sign-in/email', credentials);
  if (response.status === 403) {
    await confirmAddress(mail, ACCOUNT.email);
    response = await post('/auth/sign-in/email', credentials);
  }
  if (!response.ok) throw new Error(`The demo account cannot sign in: ${await response.text()}`);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}

const caughtMails = z.array(z.object({ text: z.string() }));

/** Waits for a mail to the address, and follows the link in the latest one. */
async function confirmAddress(mail: string, address: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    const response = await fetch(`${mail}/messages?to=${encodeURIComponent(address)}`);
    const [latest] = caughtMails.parse(await response.json());
    const link = latest && /https?:\/\/\S+\/auth\/verify-email\?\S+/.exec(latest.text)?.[0];
    if (link !== undefined) {
      const followed = await fetch(link, { redirect: 'manual' });
      await followed.body?.cancel();
      return;
    }
    await sleep(100);
  }
  throw new Error('No mail came to confirm the demo account.');
}

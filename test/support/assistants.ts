import { hash, randomBytes } from 'node:crypto';
import { enterClient } from '#core/accounts/programs/index.ts';
import { fromElsewhere, type Person } from './people.ts';
import type { Service } from './service.ts';

/** An assistant that the operator has entered, and its actions as an OAuth client. */
export interface TestAssistant {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUri: string;
  /** Asks for access like a browser that the assistant opens. Returns the page to which the browser is redirected. */
  ask(changes?: Readonly<Record<string, string | undefined>>): Promise<Asked>;
  /** Sends a form to an endpoint. */
  call(endpoint: 'token' | 'revoke', fields: Readonly<Record<string, string>>): Promise<Called>;
}

export interface Asked {
  readonly page: URL;
  /** The query of the page, which the dashboard sends back. */
  readonly oauthQuery: string;
  readonly verifier: string;
}

export interface Called {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
  readonly body: any;
}

type Reachable = Pick<Service, 'url' | 'deps'>;

/** Enters an assistant like the operator. */
export async function enterAssistant(
  service: Reachable,
  redirectUri = 'https://assistant.example/callback',
): Promise<TestAssistant> {
  const name = `Assistant ${randomBytes(4).toString('hex')}`;
  const clientId = await enterClient(service.deps.database, { name, redirectUris: [redirectUri] });
  return assistantOf(service, { clientId, name, redirectUri });
}

/** Makes the client of an assistant that the service knows. */
export function assistantOf(
  { url }: Pick<Service, 'url'>,
  known: Pick<TestAssistant, 'clientId' | 'name' | 'redirectUri'>,
): TestAssistant {
  const { clientId, redirectUri } = known;
  return {
    ...known,
    async ask(changes = {}) {
      const verifier = randomBytes(32).toString('base64url');
      const query = new URLSearchParams();
      const asked = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        state: 'a state of the client',
        scope: 'routines:read runs:read runs:write routines:write',
        resource: `${url}/mcp`,
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
        ...changes,
      };
      for (const [name, value] of Object.entries(asked)) {
        if (value !== undefined) query.set(name, value);
      }
      const response = await fetch(`${url}/auth/oauth2/authorize?${query.toString()}`, {
        redirect: 'manual',
        headers: fromElsewhere(),
      });
      const page = new URL(response.headers.get('location') ?? `${url}/no-location`);
      return { page, oauthQuery: page.searchParams.get('request') ?? '', verifier };
    },
    async call(endpoint, fields) {
      const response = await fetch(`${url}/auth/oauth2/${endpoint}`, {
        method: 'POST',
        headers: fromElsewhere(),
        body: new URLSearchParams({ client_id: clientId, ...fields }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    },
  };
}

/** Approves the request as the person, in their project. Returns the response. */
export function approveAsked(
  { session, projectId }: Pick<Person, 'session' | 'projectId'>,
  { oauthQuery }: Pick<Asked, 'oauthQuery'>,
  scopes: readonly string[] = ['routines:read', 'runs:read'],
) {
  return session.with({ 'X-Project-Id': projectId }).post('/v1/assistant-consents/approve', { oauthQuery, scopes });
}

/** Connects an assistant from start to end. Returns the response of the token endpoint. */
export async function connect(
  assistant: TestAssistant,
  person: Pick<Person, 'session' | 'projectId'>,
  scopes?: readonly string[],
): Promise<Called> {
  const asked = await assistant.ask();
  const { data } = await approveAsked(person, asked, scopes);
  return exchange(assistant, asked, codeOf(data.redirectTo));
}

/** Exchanges a code for tokens. */
export function exchange(
  assistant: TestAssistant,
  { verifier }: Pick<Asked, 'verifier'>,
  code: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<Called> {
  return assistant.call('token', {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: assistant.redirectUri,
    ...changes,
  });
}

export function codeOf(redirectTo: string): string {
  return new URL(redirectTo).searchParams.get('code') ?? '';
}

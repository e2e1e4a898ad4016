import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { CliError, fieldsOf, reason, usageError } from '../failure.ts';
import type { Profile } from '../profiles/store.ts';
import { jsonOf, request } from '../request.ts';

/**
 * Signs in with the ID token of a CI job instead of a secret. GitHub Actions is asked for the token (with `permissions:
 * id-token: write`); GitLab and others put it into RAS_ID_TOKEN.
 * @throws {CliError}
 */
export async function signInByIdToken(
  context: Context,
  {
    baseUrl,
    project,
    audience = baseUrl,
  }: { baseUrl: string; project: string | undefined; audience?: string | undefined },
): Promise<Profile> {
  const projectId = project ?? context.env['RAS_PROJECT'];
  if (!projectId) throw usageError('Which project? Give --project, or set RAS_PROJECT.');
  const token = context.env['RAS_ID_TOKEN'] || (await tokenOfGitHub(context, audience));
  const response = await request(context, `${baseUrl}/v1/auth/ci-token`, { projectId, token });
  const { data, error } = fieldsOf(await jsonOf(response));
  const { key: apiKey, expiresAt } = fieldsOf(data);
  if (!response.ok || typeof apiKey !== 'string') {
    const { message } = fieldsOf(error);
    throw new CliError(typeof message === 'string' ? message : `${baseUrl} responded with ${response.status}.`, {
      exitCode: EXIT.notSignedIn,
      hint: 'CI sign-ins are made in the dashboard, under "API keys".',
    });
  }
  return { baseUrl, apiKey, projectId, expiresAt: String(expiresAt) };
}

/** Asks GitHub Actions for an ID token (docs.github.com, "OpenID Connect reference"). */
async function tokenOfGitHub({ env, fetch }: Context, audience: string): Promise<string> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = env;
  if (!address || !bearer) {
    throw usageError(
      'This job has no ID token.',
      'On GitHub give the job `permissions: id-token: write`; on GitLab declare `id_tokens: RAS_ID_TOKEN: aud: …`.',
    );
  }
  const url = new URL(address);
  url.searchParams.set('audience', audience);
  const headers = { Authorization: `Bearer ${bearer}`, Accept: 'application/json' };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) }).catch((cause: unknown) => {
    throw new CliError(`GitHub gave no ID token: ${reason(cause)}`, { cause });
  });
  const { value } = fieldsOf(await jsonOf(response));
  if (typeof value !== 'string') throw new CliError(`GitHub gave no ID token: status ${response.status}.`);
  return value;
}

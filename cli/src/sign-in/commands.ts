import type { Command } from 'commander';
import { askedFor } from '../ask.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { CliError, usageError } from '../failure.ts';
import { when } from '../output/words.ts';
import { addressOf, profileName } from '../profiles/account.ts';
import { maskedKey } from '../profiles/mask.ts';
import { profilesFile, readProfiles, writeProfiles, type Profile } from '../profiles/store.ts';
import { request } from '../request.ts';
import { signInByIdToken } from './oidc.ts';
import { CLIENT_ID, signInByDevice } from './device.ts';
import { projectOf, scopesOf } from './scopes.ts';

/** Adds `login`, `logout`, `whoami` and `auth`. */
export function registerSignIn(program: Command, context: Context): void {
  program
    .command('login')
    .description('Sign in, by a code that you confirm in a browser.')
    .option('--with-token', 'read an API key from stdin instead')
    .option('--no-browser', 'show the address and start no browser')
    .option('--oidc', 'with the ID token of this CI job, which keeps no secret')
    .option('--project <id>', 'with --oidc: project whose CI sign-in it is (RAS_PROJECT)')
    .option('--audience <name>', 'with --oidc: audience to ask GitHub for; else the address of the service')
    .action((options: LoginOptions) => login(context, options));
  program
    .command('logout')
    .description('Forget the API key of a sign-in, and revoke it where login made it.')
    .action(() => logout(context));
  program
    .command('whoami')
    .description('Show which service, project and API key are in use.')
    .action(() => whoAmI(context));
  program
    .command('auth')
    .description('Use the sign-in in other programs.')
    .command('token')
    .description('Print the API key in use: RAS_API_KEY=$(ras auth token).')
    .action(() => printToken(context));
}

interface LoginOptions {
  readonly withToken?: boolean;
  readonly oidc?: boolean;
  readonly project?: string;
  readonly audience?: string;
  readonly browser: boolean;
}

async function login(context: Context, { withToken = false, oidc = false, browser, project, audience }: LoginOptions) {
  const { env, options } = context;
  const name = profileName(env, options);
  const before = await readProfiles(env);
  const baseUrl = await addressFor(context, before[name]);
  if (isOpenToOthers(baseUrl)) {
    context.say(`Warning: ${baseUrl} is not encrypted, so that others on the way can read the key.`);
  }
  const profile: Profile = withToken
    ? { baseUrl, apiKey: await readToken(context) }
    : oidc
      ? await signInByIdToken(context, { baseUrl, project, audience })
      : await signInByDevice(context, { baseUrl, browser: browser && context.canAsk });
  const { Ras } = await import('routine-automation-sdk');
  const ras = new Ras({ ...profile, fetch: context.fetch });
  const [scopes, found] = await Promise.all([scopesOf(ras), projectOf(ras)]).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'AuthenticationError') throw error;
    throw new CliError(`${baseUrl} does not accept this key.`, {
      exitCode: EXIT.notSignedIn,
      hint: 'The dashboard makes keys, under "API keys".',
    });
  });
  const signedIn = { ...profile, projectId: found.projectId ?? profile.projectId, scopes };
  // Read the file again, because a sign-in takes minutes and another one may have ended meanwhile.
  await writeProfiles(env, { ...(await readProfiles(env)), [name]: signedIn });
  context.say(`Signed in at ${baseUrl} with the key ${maskedKey(profile.apiKey)}.`);
  if (env['RAS_API_KEY']) {
    context.say('RAS_API_KEY is set and is used instead: unset it, or name the sign-in with --profile.');
  }
  show(context, { ...signedIn, ...found }, name);
}

async function addressFor(context: Context, before: Profile | undefined): Promise<string> {
  const { env, options } = context;
  const given = addressOf(options.apiUrl ?? env['RAS_API_URL']) ?? before?.baseUrl;
  if (given !== undefined) return given;
  if (!context.canAsk) {
    throw usageError('Which service? Give --api-url, or set RAS_API_URL.');
  }
  const asked = await askedFor(context, 'Address of the service', {
    initialValue: 'http://localhost:3000',
  });
  const address = addressOf(asked);
  if (address === undefined) throw usageError('Without an address there is nothing to sign in to.');
  return address;
}

async function readToken(context: Context): Promise<string> {
  const token = context.canAsk ? await askedFor(context, 'API key', { secret: true }) : await readAll(context.stdin);
  if (!/^[\u0021-\u007E]{1,200}$/.test(token)) {
    throw usageError('stdin holds no API key: one line, such as ras_…');
  }
  return token;
}

async function readAll(stream: AsyncIterable<Buffer | string>): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk.toString();
    if (text.length > 10_000) break;
  }
  return text.trim();
}

async function logout(context: Context) {
  const { env, options } = context;
  const name = profileName(env, options);
  const { [name]: left, ...others } = await readProfiles(env);
  if (left === undefined) {
    context.say(name === 'default' ? 'You are not signed in.' : `There is no sign-in "${name}".`);
    return;
  }
  await writeProfiles(env, others);
  const key = maskedKey(left.apiKey);
  // Only keys of `login` expire. A key that a person created may be in use elsewhere, so it stays valid.
  const isRevoked = left.expiresAt !== undefined && (await revoked(context, left));
  context.say(`Signed out of ${left.baseUrl}. The key ${key} ${isRevoked ? 'is revoked' : 'stays valid'}.`);
  if (isRevoked) return;
  const keys = left.dashboardUrl === undefined ? '' : `: ${left.dashboardUrl}/api-keys`;
  context.say(`Revoke it in the dashboard, under "API keys"${keys}`);
}

/**
 * Revokes a key that `login` created (RFC 7009).
 * @returns false when the service cannot revoke keys, or is down
 */
async function revoked(context: Context, { baseUrl, apiKey }: Profile): Promise<boolean> {
  const body = { client_id: CLIENT_ID, token: apiKey };
  const response = await request(context, `${baseUrl}/v1/auth/device/revoke`, body).catch((error: unknown) => {
    context.fail(error);
    return undefined;
  });
  return response?.ok === true;
}

/** Prints the key in use, for programs that take one: `RAS_API_KEY=$(ras auth token)`. */
async function printToken(context: Context) {
  const { apiKey } = await context.account();
  context.out.text(apiKey);
}

async function whoAmI(context: Context) {
  const account = await context.account();
  const ras = await context.client();
  const [scopes, project] = await Promise.all([scopesOf(ras), projectOf(ras)]);
  show(context, { ...account, ...project, scopes }, account.profile);
}

function show(context: Context, profile: Profile & { readonly projectName?: string }, name: string | undefined): void {
  const { baseUrl, projectId = null, projectName = null, expiresAt = null, scopes = [] } = profile;
  const apiKey = maskedKey(profile.apiKey);
  context.out.record(
    { profile: name ?? null, baseUrl, projectId, projectName, apiKey, expiresAt, scopes },
    {
      Profile: name ?? 'none, the key is from RAS_API_KEY',
      Service: baseUrl,
      Project: projectName === null ? projectId : `${projectName} (${projectId})`,
      'API key': apiKey,
      Until: when(expiresAt),
      Scopes: scopes.join(' '),
      File: name === undefined ? undefined : profilesFile(context.env),
    },
  );
}

function isOpenToOthers(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\]|.+\.localhost)$/.test(hostname);
}

import { EXIT } from '../exit-codes.ts';
import { CliError, usageError } from '../failure.ts';
import type { GlobalOptions } from '../context.ts';
import { nearest } from '../nearest.ts';
import type { World } from '../world.ts';
import { readProfiles, type Profile } from './store.ts';

/** Where calls go, and with which key. */
export interface Account extends Profile {
  /** The profile that the key comes from; undefined for a key of the environment. */
  readonly profile: string | undefined;
}

/** Returns the name of the profile that is meant. */
export function profileName(
  env: World['env'],
  { profile }: GlobalOptions,
  current = 'default',
): string {
  return profile ?? env['RAS_PROFILE'] ?? current;
}

/**
 * Returns the address and key in use: the environment first, then the profile. The key of a profile goes to the address
 * of that profile only: an address of the environment must not draw it elsewhere.
 */
export async function signedIn(
  { env }: Pick<World, 'env'>,
  options: GlobalOptions,
): Promise<Account> {
  const { current, profiles } = await readProfiles(env);
  const name = profileName(env, options, current);
  const stored = profiles[name];
  if (stored === undefined && options.profile !== undefined) throw unknownProfile(name, profiles);
  const baseUrl = addressOf(options.apiUrl ?? env['RAS_API_URL'] ?? stored?.baseUrl);
  const apiKey = env['RAS_API_KEY'];
  // A profile that is named outdoes a key of the environment.
  if (apiKey && options.profile === undefined) {
    if (baseUrl === undefined) {
      throw usageError(
        'RAS_API_KEY is set, and no address.',
        'Set RAS_API_URL, or give --api-url.',
      );
    }
    return { profile: undefined, baseUrl, apiKey };
  }
  if (stored === undefined) {
    throw new CliError('You are not signed in.', {
      exitCode: EXIT.notSignedIn,
      hint: 'Sign in with ras login, or set RAS_API_KEY and RAS_API_URL.',
    });
  }
  if (baseUrl !== undefined && baseUrl !== stored.baseUrl) {
    throw new CliError(`Profile "${name}" is signed in at ${stored.baseUrl}, not at ${baseUrl}.`, {
      exitCode: EXIT.notSignedIn,
      hint: `Sign in there under another name: ras login --api-url ${baseUrl} --profile <name>`,
    });
  }
  return { ...stored, profile: name };
}

/** Checks an address and takes the slashes off its end. */
export function addressOf(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given)) {
    throw usageError(`"${given}" is not an address that begins with https:// or http://.`);
  }
  return given.replace(/\/+$/, '');
}

function unknownProfile(name: string, profiles: Readonly<Record<string, Profile>>): CliError {
  const near = nearest(name, Object.keys(profiles));
  return new CliError(`There is no profile "${name}".`, {
    exitCode: EXIT.notSignedIn,
    hint: near === undefined ? `Sign in: ras login --profile ${name}` : `Did you mean "${near}"?`,
  });
}

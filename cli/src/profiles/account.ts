import { EXIT } from '../exit-codes.ts';
import { CliError, usageError } from '../failure.ts';
import { nearest } from '../nearest.ts';
import type { GlobalOptions, World } from '../world.ts';
import { readProfiles, type Profile } from './store.ts';

/** Address and key for calls. */
export interface Account extends Profile {
  /** The profile of the key; undefined for a key of the environment. */
  readonly profile: string | undefined;
}

/** Returns the name of the chosen profile. */
export function profileName(env: World['env'], { profile }: GlobalOptions): string {
  return profile ?? (env['RAS_PROFILE'] || 'default');
}

/**
 * Returns the address and key in use: those of the environment, else those of the profile. The key of a profile is sent
 * only to the address of that profile, never to an address from the environment.
 */
export async function signedIn({ env }: Pick<World, 'env'>, options: GlobalOptions): Promise<Account> {
  const profiles = await readProfiles(env);
  const name = profileName(env, options);
  const stored = profiles[name];
  const baseUrl = addressOf(options.apiUrl ?? env['RAS_API_URL']) ?? stored?.baseUrl;
  const apiKey = env['RAS_API_KEY'];
  // An explicitly named profile overrides a key of the environment.
  if (apiKey && options.profile === undefined) {
    if (baseUrl === undefined) {
      throw usageError('RAS_API_KEY is set, but no address is.', 'Set RAS_API_URL, or give --api-url.');
    }
    return { profile: undefined, baseUrl, apiKey };
  }
  if (stored === undefined) throw notSignedIn(name, Object.keys(profiles));
  if (baseUrl !== stored.baseUrl) {
    throw new CliError(`Profile "${name}" is signed in at ${stored.baseUrl}, not at ${baseUrl}.`, {
      exitCode: EXIT.notSignedIn,
      hint: `Sign in there under another name: ras login --api-url ${baseUrl} --profile <name>`,
    });
  }
  return { ...stored, profile: name };
}

/**
 * Returns the address in use, for commands without a key.
 * @throws {CliError} without an address
 */
export async function addressInUse({ env }: Pick<World, 'env'>, options: GlobalOptions): Promise<string> {
  const given = addressOf(options.apiUrl ?? env['RAS_API_URL']);
  const name = profileName(env, options);
  const address = given ?? (await readProfiles(env))[name]?.baseUrl;
  if (address === undefined) {
    throw usageError(
      'No address of the service is known.',
      'Give --api-url, set RAS_API_URL, or sign in with ras login.',
    );
  }
  return address;
}

/** Checks an address and removes slashes at its end. */
export function addressOf(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given)) {
    throw usageError(`"${given}" is not an address that begins with https:// or http://.`);
  }
  return given.replace(/\/+$/, '');
}

function notSignedIn(name: string, known: readonly string[]): CliError {
  const near = nearest(name, known);
  const which = name === 'default' ? '' : ` --profile ${name}`;
  return new CliError(`You are not signed in${name === 'default' ? '' : ` as "${name}"`}.`, {
    exitCode: EXIT.notSignedIn,
    hint:
      near === undefined
        ? `Sign in with ras login${which}, or set RAS_API_KEY and RAS_API_URL.`
        : `Did you mean --profile ${near}?`,
  });
}

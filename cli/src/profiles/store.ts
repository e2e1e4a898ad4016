import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { CliError, fieldsOf } from '../failure.ts';
import type { World } from '../world.ts';
import { writeWhole } from '../write-whole.ts';

/** Result of a sign-in. */
export interface Profile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly projectId?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Expiry of the key, if the sign-in returned one. */
  readonly expiresAt?: string | undefined;
  /** Origin of the dashboard, if the sign-in returned one. */
  readonly dashboardUrl?: string | undefined;
}

export type Profiles = Readonly<Record<string, Profile>>;

/** Returns the file of profiles (XDG Base Directory Specification: a path that is not absolute does not count). */
export function profilesFile(env: World['env']): string {
  const { XDG_CONFIG_HOME: config = '', HOME: home = homedir() } = env;
  const base = path.isAbsolute(config) ? config : path.join(home, '.config');
  return path.join(base, 'ras', 'profiles.json');
}

export async function readProfiles(env: World['env']): Promise<Profiles> {
  const file = profilesFile(env);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new CliError(`${file} cannot be read: ${error.code}`, { cause: error });
  });
  const { profiles } = fieldsOf(parsed(text, file));
  const known = Object.entries(fieldsOf(profiles)).flatMap(([name, value]) => {
    const profile = profileOf(value);
    return profile === undefined ? [] : [[name, profile] as const];
  });
  return Object.fromEntries(known);
}

export async function writeProfiles(env: World['env'], profiles: Profiles): Promise<void> {
  const text = `${JSON.stringify({ profiles }, null, 2)}\n`;
  await writeWhole(profilesFile(env), text, { secret: true });
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliError(`${file} is not JSON.`, {
      hint: 'Mend it, or remove it and sign in again with ras login.',
      cause,
    });
  }
}

function profileOf(value: unknown): Profile | undefined {
  const { baseUrl, apiKey, projectId, scopes, expiresAt, dashboardUrl } = fieldsOf(value);
  if (typeof baseUrl !== 'string' || typeof apiKey !== 'string') return undefined;
  return {
    baseUrl,
    apiKey,
    projectId: typeof projectId === 'string' ? projectId : undefined,
    expiresAt: typeof expiresAt === 'string' ? expiresAt : undefined,
    scopes: Array.isArray(scopes) ? scopes.map(String) : undefined,
    dashboardUrl: typeof dashboardUrl === 'string' ? dashboardUrl : undefined,
  };
}

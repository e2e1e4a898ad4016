import { TOTP } from 'otpauth';
import type { Database } from '#lib/database/index.ts';
import { ageCodes } from './given.ts';
import { fromElsewhere, type Person } from './people.ts';

/** The authenticator of a person, with the secrets that were shown when it was added. */
export interface Authenticator {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** Returns an unused code, as after half a minute. */
  code(): Promise<string>;
}

/** Adds a second factor over HTTP, like the user interface. */
export async function addSecondFactor(
  database: Database,
  person: Pick<Person, 'session' | 'userId'>,
): Promise<Authenticator> {
  const session = person.session.with(fromElsewhere());
  const { secret } = (await session.post('/auth/second-factor/begin')).body as { secret: string };
  const confirmed = await session.post('/auth/second-factor/confirm', { code: codeOf(secret) });
  if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed.body));
  return {
    secret,
    recoveryCodes: confirmed.body.recoveryCodes,
    async code() {
      await ageCodes(database, person.userId);
      return codeOf(secret);
    },
  };
}

/** Computes the code that an authenticator shows at the moment. */
export function codeOf(secret: string): string {
  return new TOTP({ secret }).generate();
}

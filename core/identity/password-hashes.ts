import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { createTurns } from '#lib/turns.ts';

export interface PasswordHashes {
  hash(password: string): Promise<string>;
  verify(given: { readonly hash: string; readonly password: string }): Promise<boolean>;
}

/** Code of an error that says nothing of the password, as it was not looked at. */
export const NOT_CHECKED = 'service_unavailable';

/** Each takes one of the four threads that Node has for DNS, files and cryptography. */
const AT_A_TIME = 2;
const WAITING = 20;

/** Hashes passwords with the library's scrypt, which takes a twentieth of a second on purpose. */
export const SLOW_HASHES: PasswordHashes = { hash: hashPassword, verify: verifyPassword };

/**
 * Lets this process compute two hashes at a time, so that guessing takes no thread that others need. They take
 * turns in two lines of equal length.
 * @throws {APIError} `service_unavailable` when twenty are waiting, in the form of the library, whose hooks then run
 */
export function twoAtATime(hashes: PasswordHashes): PasswordHashes {
  const inTurn = createTurns(WAITING / AT_A_TIME);
  let line = 0;

  async function compute<T>(work: () => Promise<T>): Promise<T> {
    line = (line + 1) % AT_A_TIME;
    const turn = await inTurn(String(line), async () => ({ result: await work() }));
    if (turn !== undefined) return turn.result;
    throw new APIError(
      'SERVICE_UNAVAILABLE',
      {
        code: NOT_CHECKED,
        message: 'Too many passwords are being checked; try again in a moment.',
      },
      { 'Retry-After': '2' },
    );
  }

  return {
    hash: (password) => compute(() => hashes.hash(password)),
    verify: (given) => compute(() => hashes.verify(given)),
  };
}

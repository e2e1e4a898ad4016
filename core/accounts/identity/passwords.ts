import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';

export interface PasswordHashes {
  hash(password: string): Promise<string>;
  verify(given: { readonly hash: string; readonly password: string }): Promise<boolean>;
}

/** Code of the error for a password that was not checked. */
export const NOT_CHECKED = 'service_unavailable';

/** The most hashes at a time. Each takes one of the four threads that Node has for DNS, files and cryptography. */
const AT_A_TIME = 2;

/** The most callers that wait in each of the two lines. */
const MAX_WAITING = 20;

/** Hashes passwords with the library's scrypt, which takes a twentieth of a second on purpose. */
export const SLOW_HASHES: PasswordHashes = { hash: hashPassword, verify: verifyPassword };

const requests = new AsyncLocalStorage<{ isKnown: boolean }>();

/** Handles a request. `goFirst` can move the passwords of this request to the front of the line. */
export function inLine<T>(handle: () => Promise<T>): Promise<T> {
  return requests.run({ isKnown: false }, handle);
}

/** Hashes the passwords of this request before those of strangers, whose number is unlimited. */
export function goFirst(): void {
  const request = requests.getStore();
  if (request !== undefined) request.isKnown = true;
}

/**
 * Computes at most two hashes at a time in this process, so that password guessing leaves threads for other work.
 * Strangers wait in one line; callers whose attempts are limited wait in a second line, which is served first.
 * @throws {APIError} `service_unavailable` when the line is full, in the form of the library
 */
export function twoAtATime(hashes: PasswordHashes): PasswordHashes {
  const known: (() => void)[] = [];
  const strangers: (() => void)[] = [];
  let running = 0;

  async function compute<T>(work: () => Promise<T>): Promise<T> {
    if (running < AT_A_TIME) running += 1;
    else await wait(requests.getStore()?.isKnown === true ? known : strangers);
    try {
      return await work();
    } finally {
      // Give the place to the first caller in line, so that no later caller takes it.
      const next = known.shift() ?? strangers.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  }

  return {
    hash: (password) => compute(() => hashes.hash(password)),
    verify: (given) => compute(() => hashes.verify(given)),
  };
}

async function wait(line: (() => void)[]): Promise<void> {
  if (line.length < MAX_WAITING) return new Promise((resolve) => line.push(resolve));
  throw new APIError(
    'SERVICE_UNAVAILABLE',
    { code: NOT_CHECKED, message: 'Too many passwords are being checked; try again in a moment.' },
    { 'Retry-After': '2' },
  );
}

/**
 * The ten thousand most common passwords of at least ten characters, the minimum here, in lower case. Sources:
 * `@zxcvbn-ts/language-common` 4.1.3 (MIT), Django 5.2 (BSD), and then the OWASP SecLists (10 million password list; CC
 * BY-SA 3.0, by Daniel Miessler and Jason Haddix) in their order.
 */
const FILE = new URL('../../../lib/secrets/common-passwords.txt', import.meta.url);

let common: ReadonlySet<string> | undefined;

/** Tells whether a password is one of the most common passwords. Attackers try these first. */
export function isCommonPassword(password: string): boolean {
  common ??= new Set(readFileSync(FILE, 'utf8').trimEnd().split('\n'));
  return common.has(password.toLowerCase());
}

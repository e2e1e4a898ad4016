import { createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { APIError } from 'better-auth/api';
import { jwtVerify, SignJWT } from 'jose';
import { throttle, uncount, unthrottle, type ThrottleRule } from '#core/foundation/rate-limits/index.ts';
import type { Db } from '#lib/database/index.ts';

/** An attempt to prove an identity by a secret, counted per account. */
export interface Guess {
  /**
   * Kind of proof: the password at sign-in, a code after the right password, or the password of a person who is signed
   * in. Each kind is counted separately.
   */
  readonly kind: 'password' | 'second-factor' | 'own-password';
  /** Address or id of an account that may not exist. */
  readonly account: string;
  /** Address (IPv4) or network (64 bits of IPv6) that belongs to one caller. */
  readonly network: string;
  /** Id of a browser that was signed in to this account before; undefined for any other browser. */
  readonly browserId: string | undefined;
}

/** Limits sign-ins from one network by unknown browsers, over all accounts, against password spraying. */
export const SIGN_INS_OF_NETWORK: ThrottleRule = { name: 'sign-in-of-network', limit: 3, windowSeconds: 10 };

const FEW = 10;
const SIGN_INS_OF_ACCOUNT = 200;
/**
 * The most guesses at one account in 15 minutes. Codes have only six digits, and the thief of a session must not find
 * the password by guessing. Strangers cannot use up these guesses: they need the password or a session first.
 */
const BY_PERSON = { 'second-factor': FEW, 'own-password': 5 };

/**
 * Makes an attempt of a person whose password was right or who is signed in. Attempts from all networks share one
 * count.
 */
export function guessByPerson(kind: keyof typeof BY_PERSON, userId: string): Guess {
  return { kind, account: userId, network: '', browserId: undefined };
}

/**
 * Counts an attempt before the proof is checked. A known browser is counted separately, so that no stranger can use up
 * its attempts. All other attempts count by account and network and, with a far higher limit, by account alone, so that
 * many networks are limited too. An attempt that one count refuses is not added to the next.
 * @returns undefined when the attempt is allowed, else the seconds to wait
 */
export async function countGuess(db: Db, guess: Guess): Promise<number | undefined> {
  for (const { rule, subject } of countsOf(guess)) {
    const wait = await throttle(db, rule, subject);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** Counts an attempt. @throws {APIError} `rate_limited` when it may not be made */
export async function assertMayGuess(db: Db, guess: Guess): Promise<void> {
  const wait = await countGuess(db, guess);
  if (wait !== undefined) throw tooManyGuesses(wait);
}

export function tooManyGuesses(waitSeconds: number): APIError {
  return new APIError(
    'TOO_MANY_REQUESTS',
    { code: 'rate_limited', message: 'Too many attempts; try again later.' },
    { 'Retry-After': String(waitSeconds) },
  );
}

/**
 * Clears the counts of this network or browser after a right proof, and takes this attempt out of the account's count.
 */
export async function acceptGuess(db: Db, guess: Guess): Promise<void> {
  const [own, ofAccount] = countsOf(guess);
  if (own !== undefined) await unthrottle(db, own.rule, own.subject);
  if (ofAccount !== undefined) await uncount(db, ofAccount.rule, ofAccount.subject);
}

/** Takes an attempt out of all counts, because its proof was not checked. */
export async function takeBackGuess(db: Db, guess: Guess): Promise<void> {
  for (const { rule, subject } of countsOf(guess)) await uncount(db, rule, subject);
}

/** Clears the counts of the account for this network and this browser. */
export async function forgetGuesses(db: Db, guess: Guess): Promise<void> {
  const counts = [...countsOf(guess), ...countsOf({ ...guess, browserId: undefined })];
  for (const { rule, subject } of counts) await unthrottle(db, rule, subject);
}

function countsOf({ kind, account, network, browserId }: Guess) {
  const rule = (of: string, limit: number) => {
    return { name: `${kind}-of-${of}`, limit, windowSeconds: 15 * 60 };
  };
  if (kind !== 'password') return [{ rule: rule('account', BY_PERSON[kind]), subject: account }];
  if (browserId !== undefined) {
    return [{ rule: rule('browser', FEW), subject: `${account} ${browserId}` }];
  }
  return [
    { rule: rule('network', FEW), subject: `${account} ${network}` },
    { rule: rule('account', SIGN_INS_OF_ACCOUNT), subject: account },
  ];
}

/** The cookie of a browser with an earlier sign-in: a device cookie, as OWASP describes it. */
export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  readonly maxAgeSeconds: number;
}

export interface KnownBrowsers {
  /** Returns the id of a browser whose cookie proves an earlier sign-in to the account. */
  recognize(account: string, cookieOf: (name: string) => string | null): Promise<string | undefined>;
  /** Makes the cookie of a browser. A known browser keeps its id and therefore its count. */
  remember(account: string, browserId?: string): Promise<BrowserCookie>;
}

const DAY_SECONDS = 24 * 60 * 60;
const LIFETIME_DAYS = 180;

/**
 * Recognizes browsers by a signed cookie for each account. The cookie gives no access: it only moves the attempts of
 * this browser to a separate count. It contains the account's address as a keyed hash.
 * @param options.cookiePrefix prefix of the name, such as `__Host-ras`
 */
export function createKnownBrowsers(options: { secret: string; cookiePrefix: string }): KnownBrowsers {
  const keyFor = (use: string) => Buffer.from(hkdfSync('sha256', options.secret, '', `known browsers: ${use}`, 32));
  const signingKey = createSecretKey(keyFor('signature'));
  const accountKey = keyFor('account');

  function tagOf(account: string): string {
    const mac = createHmac('sha256', accountKey).update(account.toLowerCase());
    return mac.digest('base64url').slice(0, 22);
  }

  function nameOf(tag: string): string {
    return `${options.cookiePrefix}.browser_${tag}`;
  }

  return {
    async recognize(account, cookieOf) {
      const audience = tagOf(account);
      const cookie = cookieOf(nameOf(audience));
      if (cookie === null || cookie === '') return undefined;
      try {
        const { payload } = await jwtVerify(cookie, signingKey, { algorithms: ['HS256'], audience });
        return payload.sub;
      } catch {
        return undefined;
      }
    },
    async remember(account, browserId = randomBytes(16).toString('hex')) {
      const tag = tagOf(account);
      const value = await new SignJWT()
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(browserId)
        .setAudience(tag)
        .setExpirationTime(`${LIFETIME_DAYS}d`)
        .sign(signingKey);
      return { name: nameOf(tag), value, maxAgeSeconds: LIFETIME_DAYS * DAY_SECONDS };
    },
  };
}

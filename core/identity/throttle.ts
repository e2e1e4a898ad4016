import { hash } from 'node:crypto';
import { APIError } from 'better-auth/api';
import { execute, row, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/** Allows at most `limit` events under one key in a window that begins with the first of them. */
export interface ThrottleRule {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The events under a key in the current window, this one included, and the seconds until the next window. */
export interface WindowUse {
  readonly count: number;
  readonly resetSeconds: number;
}

/** Messages of one kind to one address that a stranger can cause. */
export const MAILS: ThrottleRule = { name: 'mail', limit: 5, windowSeconds: 60 * 60 };

/** Invitations that one person sends. */
export const INVITATION_MAILS: ThrottleRule = {
  name: 'invitation-mail',
  limit: 100,
  windowSeconds: 24 * 60 * 60,
};

/** The same while their account is new. */
export const NEW_INVITATION_MAILS: ThrottleRule = { ...INVITATION_MAILS, limit: 10 };

/**
 * Counts an event of `subject`, over all replicas, before what it allows is done, so that many at a time do not pass
 * the limit together.
 * @returns undefined when it is within the limit, else the seconds until the next window
 */
export async function throttle(
  db: Db,
  rule: ThrottleRule,
  subject: string,
): Promise<number | undefined> {
  const { count, resetSeconds } = await countWithin(db, rule, subject);
  return count <= rule.limit ? undefined : resetSeconds;
}

/** Counts an event of `subject`, and leaves it to the caller to compare the count with a limit. */
export async function countWithin(
  db: Db,
  rule: Pick<ThrottleRule, 'name' | 'windowSeconds'>,
  subject: string,
): Promise<WindowUse> {
  const event = sql`select ${keyOf(rule, subject)}::text, now(), 1`;
  const use = await row<WindowUse>(db, counting(event, rule.windowSeconds));
  return use ?? { count: 1, resetSeconds: rule.windowSeconds };
}

/** Counts one request of a credential that was verified elsewhere, such as a session. */
export async function countUse(db: Db, credential: string): Promise<WindowUse> {
  const request = sql`select ${credential}::text, date_trunc('minute', now()), 1`;
  return (await row<WindowUse>(db, counting(request, 60))) ?? { count: 1, resetSeconds: 60 };
}

/**
 * Returns the statement that counts events: all limits over replicas are rows of this one table. With a start that is
 * rounded down, windows are those of the clock; with the present time, a window begins with its first event.
 * @param events a select of key, start of the window, and number of events
 */
export function counting(events: Sql, windowSeconds: number): Sql {
  const end = sql`r.window_start + make_interval(secs => ${windowSeconds}::integer)`;
  const isOver = sql`${end} <= excluded.window_start`;
  return sql`
    insert into rate_limits as r (credential, window_start, count) ${events}
    on conflict (credential) do update set
      window_start = case when ${isOver} then excluded.window_start else r.window_start end,
      count = case when ${isOver} then excluded.count else r.count + excluded.count end
    returning count, greatest(ceil(extract(epoch from ${end} - now())), 1)::integer as "resetSeconds"
  `;
}

/** Forgets the events of `subject`. */
async function unthrottle(
  db: Db,
  rule: Pick<ThrottleRule, 'name'>,
  subject: string,
): Promise<void> {
  await execute(db, sql`delete from rate_limits where credential = ${keyOf(rule, subject)}`);
}

/** Takes back one event of `subject`, which the rule turned out not to concern. */
async function uncount(db: Db, rule: Pick<ThrottleRule, 'name'>, subject: string): Promise<void> {
  await execute(
    db,
    sql`update rate_limits set count = count - 1 where credential = ${keyOf(rule, subject)} and count > 0`,
  );
}

/** Hashes the subject, so that the table is no list of addresses that people have tried. */
function keyOf({ name }: Pick<ThrottleRule, 'name'>, subject: string): string {
  return `${name}:${hash('sha256', subject.toLowerCase(), 'base64url')}`;
}

const STARTS: ThrottleRule = { name: 'sign-in-start', limit: 20, windowSeconds: 15 * 60 };

/**
 * Counts a sign-in at a provider that a person begins: each sends requests to a server, may register a client there, and
 * uses up limits that the provider sets for the operator.
 * @param at one provider, or a kind of them that counts together
 * @throws {AppError} `rate_limited`
 */
export async function assertMayBeginSignIn(db: Db, userId: string, at: string): Promise<void> {
  const wait = await throttle(db, STARTS, `${userId} ${at}`);
  if (wait === undefined) return;
  throw new AppError('rate_limited', 'Too many sign-ins were begun here; wait a few minutes.', {
    'Retry-After': String(wait),
  });
}

/** An attempt to show something that only one person should know. */
export interface Guess {
  /**
   * The proof that is shown: the password of a sign-in, a code of a second factor after the right password, or the password of a
   * person who is signed in already. Each kind has counts of its own.
   */
  readonly kind: 'password' | 'second-factor' | 'own-password';
  /** Address or id of the account, whether or not there is one. */
  readonly account: string;
  /** The network that the caller has to itself. */
  readonly network: string;
  /** Id of the browser when it was signed in to this account before. */
  readonly browserId: string | undefined;
}

/** Sign-ins from one network to any accounts, by browsers that are not known: password spraying. */
export const SIGN_INS_OF_NETWORK: ThrottleRule = {
  name: 'sign-in-of-network',
  limit: 3,
  windowSeconds: 10,
};

const FEW = 10;
const SIGN_INS_OF_ACCOUNT = 200;
/**
 * A person who guesses codes knows the password, so no stranger can use up that count, and a code has only six digits.
 * With a stolen session, guesses must not lead to the password.
 */
const BY_PERSON = { 'second-factor': FEW, 'own-password': 5 };

/** Makes an attempt of a person whose password was right, or who is signed in; it counts from every network. */
export function guessByPerson(kind: keyof typeof BY_PERSON, userId: string): Guess {
  return { kind, account: userId, network: '', browserId: undefined };
}

/**
 * Counts an attempt before it is looked at. A known browser has a count of its own, which no stranger can use up. All
 * others count by account and network and, far higher, by account alone, so that neither one network nor many can go on
 * for long. An attempt that one count refuses is not added to the next.
 * @returns undefined when the attempt may be made, else the seconds until it may
 */
export async function countGuess(db: Db, guess: Guess): Promise<number | undefined> {
  for (const { rule, subject } of countsOf(guess)) {
    const wait = await throttle(db, rule, subject);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** @throws {APIError} `rate_limited`, when the attempt may not be made; else it is counted */
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

/** Forgets the attempts of this network or browser, and this one among the account's: it was right. */
export async function acceptGuess(db: Db, guess: Guess): Promise<void> {
  const [own, ofAccount] = countsOf(guess);
  if (own !== undefined) await unthrottle(db, own.rule, own.subject);
  if (ofAccount !== undefined) await uncount(db, ofAccount.rule, ofAccount.subject);
}

/** Takes an attempt out of all counts: what was shown was not checked. */
export async function takeBackGuess(db: Db, guess: Guess): Promise<void> {
  for (const { rule, subject } of countsOf(guess)) await uncount(db, rule, subject);
}

/** Forgets the attempts at the account alone, from this network and from this browser. */
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

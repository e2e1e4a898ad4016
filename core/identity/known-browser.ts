import { createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';

/** The cookie of a browser in which a person was signed in: a device cookie, as OWASP describes it. */
export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  readonly maxAgeSeconds: number;
}

export interface KnownBrowsers {
  /** Returns the id of the browser when its cookie says that it was signed in to the account before. */
  recognize(
    account: string,
    cookieOf: (name: string) => string | null,
  ): Promise<string | undefined>;
  /** Makes the cookie for a browser; one that is known already keeps its id, and so its count of attempts. */
  remember(account: string, browserId?: string): Promise<BrowserCookie>;
}

const DAY_SECONDS = 24 * 60 * 60;
const LIFETIME_DAYS = 180;

/**
 * Recognizes browsers by a signed cookie for each account. It opens nothing: it only moves the attempts of this browser
 * from the counts that strangers can use up to a count of its own. The address of the account is in it as a keyed hash.
 * @param options.cookiePrefix what stands before the name, as `__Host-ras`
 */
export function createKnownBrowsers(options: {
  secret: string;
  cookiePrefix: string;
}): KnownBrowsers {
  const keyFor = (use: string) =>
    Buffer.from(hkdfSync('sha256', options.secret, '', `known browsers: ${use}`, 32));
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
        const { payload } = await jwtVerify(cookie, signingKey, {
          algorithms: ['HS256'],
          audience,
        });
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

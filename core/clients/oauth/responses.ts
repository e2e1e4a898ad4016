import { isJsonObject } from '#lib/json.ts';

/** The tokens of a response; other fields are present if they could be read. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /**
   * Seconds until the token expires; undefined when the value is missing or not sensible, such as 0, a word or an empty
   * text.
   */
  readonly expiresInSeconds: number | undefined;
  /** The granted scope; undefined when it equals the requested scope. */
  readonly scope: string | undefined;
  readonly idToken: string | undefined;
}

/** A client that an authorization server has registered for this service. */
export interface Registration {
  readonly id: string;
  readonly secret: string | undefined;
  readonly authMethod: string | undefined;
}

/** A value that was read from a response, with the names of its unreadable fields. */
export interface Read<T> {
  /** The value that was read; undefined if its one required field is missing. */
  readonly value: T | undefined;
  readonly dropped: readonly string[];
}

/**
 * Reads a token response (RFC 6749, section 5.1). Only `access_token` is required: the server may have rotated the
 * refresh token already, so refusing a response for another field would end the sign-in.
 */
export function readTokens(body: unknown): Read<Tokens> {
  const { read, dropped } = fieldsOf(body);
  const accessToken = read('access_token', secretIn);
  const more = {
    refreshToken: read('refresh_token', secretIn),
    expiresInSeconds: read('expires_in', lifetimeIn),
    scope: read('scope', (value) => textIn(Array.isArray(value) ? textsIn(value)?.join(' ') : value, 10_000)),
    idToken: read('id_token', (value) => textIn(value, 65_536)),
  };
  return { value: accessToken === undefined ? undefined : { accessToken, ...more }, dropped };
}

/** Reads the response to a registration (RFC 7591, section 3.2.1). Only `client_id` is required. */
export function readRegistration(body: unknown): Read<Registration> {
  const { read, dropped } = fieldsOf(body);
  const id = read('client_id', (value) => textIn(value, 4_096));
  const secret = read('client_secret', (value) => textIn(value, 4_096));
  const authMethod = read('token_endpoint_auth_method', (value) => {
    const isKnown = typeof value === 'string' && (AUTH_METHODS.has(value) || value === 'none');
    // Without a secret the client cannot authenticate.
    return isKnown && (secret !== undefined || value === 'none') ? value : undefined;
  });
  return { value: id === undefined ? undefined : { id, secret, authMethod }, dropped };
}

const AUTH_METHODS: ReadonlySet<string> = new Set(['client_secret_basic', 'client_secret_post']);

/** Reads fields of a JSON object one by one. Null counts as missing. */
export function fieldsOf(body: unknown) {
  const dropped: string[] = [];
  const read = <T>(name: string, take: (value: unknown) => T | undefined): T | undefined => {
    const value = isJsonObject(body) && Object.hasOwn(body, name) ? body[name] : undefined;
    if (value === undefined || value === null) return undefined;
    const taken = take(value);
    if (taken === undefined) dropped.push(name);
    return taken;
  };
  return { read, dropped };
}

export function textIn(value: unknown, maxLength = 2_048): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;
}

/** Reads a list of texts, which some servers write as one text with spaces. */
export function textsIn(value: unknown): string[] | undefined {
  const list: unknown = typeof value === 'string' ? value.split(' ') : value;
  if (!Array.isArray(list)) return undefined;
  return list.filter((each) => typeof each === 'string' && each !== '');
}

function secretIn(value: unknown): string | undefined {
  return typeof value === 'string' && VISIBLE.test(value) ? value : undefined;
}

/** Characters that are safe in a header: the characters of RFC 6750, section 2.1, and more that servers use. */
const VISIBLE = /^[\x21-\x7e]{1,16384}$/;

function lifetimeIn(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined;
  return Math.min(Math.ceil(seconds), MAX_LIFETIME_SECONDS);
}

const MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3600;

import { redactAuthorization } from '#lib/redact-authorization.ts';

/**
 * Removes from a text what must not be recorded or shown to a model: the given secrets wherever they occur, and
 * anything that has the unmistakable form of a credential.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH)) {
    for (const form of new Set([secret, encodeURIComponent(secret), toBase64(secret)])) {
      clean = clean.replaceAll(form, MARK);
    }
  }
  return redactAuthorization(clean).replaceAll(TOKEN, MARK);
}

const MARK = '[redacted]';

/** Shorter secrets would remove ordinary words from a text. */
const MIN_SECRET_LENGTH = 6;

/** Prefixes that issuers gave their credentials so that leaked ones can be found. */
const TOKEN =
  /\b(?:sk-[\w-]{20,}|gh[pousr]_\w{30,}|github_pat_\w{30,}|xox[abprs]-[\w-]{10,}|whsec_[\w+/=]{20,}|AKIA[0-9A-Z]{16})/g;

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '');
}

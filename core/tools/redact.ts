import { redactAuthorization } from '#lib/redact-authorization.ts';

/**
 * Removes from a text what must be neither recorded nor shown to a model: the given secrets wherever they occur, and
 * anything that unmistakably has the form of a credential.
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

/** Length below which a secret is left: it would remove ordinary words. */
const MIN_SECRET_LENGTH = 6;

/** Matches credentials by the prefixes that issuers gave them so that leaked ones can be found. */
const TOKEN =
  /\b(?:sk-[\w-]{20,}|gh[pousr]_\w{30,}|github_pat_\w{30,}|xox[abprs]-[\w-]{10,}|whsec_[\w+/=]{20,}|AKIA[0-9A-Z]{16})/g;

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '');
}

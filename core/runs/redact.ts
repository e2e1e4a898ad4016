/**
 * Takes out of a text what must not be recorded or shown to a model: the given secrets, wherever they stand, and what
 * has the unmistakable form of a credential.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH)) {
    for (const form of new Set([secret, encodeURIComponent(secret), toBase64(secret)])) {
      clean = clean.replaceAll(form, MARK);
    }
  }
  return clean.replaceAll(AUTHORIZATION, `$1 ${MARK}`).replaceAll(TOKEN, MARK);
}

const MARK = '[redacted]';

/** Shorter ones would take ordinary words out of a text. */
const MIN_SECRET_LENGTH = 6;

/** With a digit in it, so that "Basic requirements" stays what it is. */
const AUTHORIZATION = /\b(Bearer|Basic)\s+(?=[\w.~+/-]*\d)[\w.~+/-]{16,}=*/gi;

/** Forms that their issuers chose so that leaked ones can be found. */
const TOKEN =
  /\b(?:sk-[\w-]{20,}|gh[pousr]_\w{30,}|github_pat_\w{30,}|xox[abprs]-[\w-]{10,}|whsec_[\w+/=]{20,}|AKIA[0-9A-Z]{16})/g;

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '');
}

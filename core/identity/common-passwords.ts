import { readFileSync } from 'node:fs';

/**
 * The ten thousand commonest passwords of at least ten characters, which is as short as ours may be, in small letters:
 * those of `@zxcvbn-ts/language-common` 4.1.3 (MIT) and Django 5.2 (BSD), and after them those of the OWASP SecLists
 * (10 million password list; CC BY-SA 3.0, by Daniel Miessler and Jason Haddix), in its order.
 */
const FILE = new URL('common-passwords.txt', import.meta.url);

let common: ReadonlySet<string> | undefined;

/** Tells whether a password is one of those that leaked most often, which guessing begins with. */
export function isCommonPassword(password: string): boolean {
  common ??= new Set(readFileSync(FILE, 'utf8').trimEnd().split('\n'));
  return common.has(password.toLowerCase());
}

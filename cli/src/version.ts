import { readFileSync } from 'node:fs';

/** Returns the version of this `ras`. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return String(version);
}

/** Tells whether a version comes before another one. Patches do not count, because they bring nothing new. */
export function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = than.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

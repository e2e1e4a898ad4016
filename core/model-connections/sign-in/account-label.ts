import type { ModelProvider } from '../providers/providers.ts';

/**
 * Makes the label that a person knows an account by and everybody in the project may see: an address keeps the first
 * letter before the at sign and its domain. The last at sign counts: a quoted name before it may hold others.
 */
export function safeLabel({ file }: Pick<ModelProvider, 'file'>, claimed: string | null): string {
  if (claimed === null) return `${file.name} account`;
  const address = /^(.).*@([^@]*)$/su.exec(claimed);
  return (address === null ? claimed : `${address[1]}…@${address[2]}`).slice(0, 200);
}

/** Returns the label of a key: its last four characters, where it is long enough to lose them. */
export function keyLabel({ file }: Pick<ModelProvider, 'file'>, key: string): string {
  return key.length < 20 ? `${file.name} key` : `${file.name} key …${key.slice(-4)}`;
}

/** The texts of a command that are searched. */
export interface Searched {
  readonly label: string;
  /** Shown next to the label, and searched as well. */
  readonly hint?: string;
  /** Further search words. */
  readonly words?: string;
}

/** Returns true if each word of a text is in the command. */
export function fits({ label, hint = '', words = '' }: Searched, text: string): boolean {
  const said = `${label} ${hint} ${words}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

/**
 * Reads an order: "pause harb" is the verb *Pause* for a routine named "harb".
 * @returns undefined if the text begins with no verb
 */
export function orderOf<V extends Pick<Searched, 'label'>>(
  text: string,
  verbs: readonly V[],
): { verbs: readonly V[]; name: string } | undefined {
  const [first = '', ...others] = text.toLowerCase().split(/\s+/);
  const meant = first.length < 3 ? [] : verbs.filter(({ label }) => label.toLowerCase().startsWith(first));
  const [, ...more] = meant[0]?.label.toLowerCase().split(' ') ?? [];
  const name = others.filter((word, index) => word !== more[index]).join(' ');
  return meant.length === 0 ? undefined : { verbs: meant, name };
}

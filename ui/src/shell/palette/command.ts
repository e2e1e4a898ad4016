import type { LucideIcon } from 'lucide-react';
import type { Doing } from '#ui/api/verbs/verb.ts';

export interface Command {
  readonly value: string;
  readonly label: string;
  /** Shown beside the label, and searched as well. */
  readonly hint?: string;
  /** Other words that it is found by. */
  readonly words?: string;
  readonly icon: LucideIcon;
  readonly keys?: readonly string[];
  readonly run: () => void;
}

export interface Group {
  readonly label: string;
  readonly commands: readonly Command[];
}

/** Returns true where each word of a text is in the command. */
export function fits({ label, hint = '', words = '' }: Command, text: string): boolean {
  const said = `${label} ${hint} ${words}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

/** Makes a command of a verb, where it can be done with this thing now. */
export function commandOf<Of extends { readonly id: string }>(verb: Doing<Of>, of: Of, hint: string): Command[] {
  const { label, icon, reasonAgainst, act } = verb;
  return reasonAgainst(of) === undefined ? [{ value: `${label} ${of.id}`, label, hint, icon, run: () => act(of) }] : [];
}

/**
 * Reads an order: "pause harb" is the verb *Pause* for what is called "harb".
 * @returns undefined where the text begins with no verb
 */
export function orderOf<Of, V extends Pick<Doing<Of>, 'label'>>(
  text: string,
  verbs: readonly V[],
): { verbs: readonly V[]; name: string } | undefined {
  const [first = '', ...others] = text.toLowerCase().split(/\s+/);
  const meant = first.length < 3 ? [] : verbs.filter(({ label }) => label.toLowerCase().startsWith(first));
  const [, ...more] = meant[0]?.label.toLowerCase().split(' ') ?? [];
  const name = others.filter((word, index) => word !== more[index]).join(' ');
  return meant.length === 0 ? undefined : { verbs: meant, name };
}

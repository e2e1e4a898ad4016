import { sentence } from '#ui/format/capitalized.ts';
import type { Shape } from '#ui/api/types.ts';
import { ACTION_REASONS } from '#ui/api/words.ts';
import { drawn } from './drawn.ts';
import { tokensOf } from './json-pointer.ts';
import { humanize } from './run-words.ts';

type Action = Shape<'Action'>;

/** Returns the reason why an action ended; undefined if a person decided it. */
export function endOf({ reason }: Pick<Action, 'reason'>): string | undefined {
  return reason === null ? undefined : sentence(ACTION_REASONS[reason] ?? humanize(reason));
}

/** Returns true between the approval and the end of a call. */
export function isUnderWay({ state }: Pick<Action, 'state'>): boolean {
  return state === 'approved' || state === 'sending';
}

const LONGEST_LINE = 140;

/** Sums up the arguments of a call in a line: its texts, numbers and flags. */
export function argumentsLine({ arguments: given }: Pick<Action, 'arguments'>): string {
  if (given === null) return 'The arguments of the call are erased.';
  const values = Object.values(given).filter((value) => typeof value !== 'object' || value === null);
  const line = values.map(String).join(' · ').replaceAll(REFERENCE, '(a result)');
  return drawn(line.slice(0, LONGEST_LINE)).replaceAll(/\s+/g, ' ');
}

/** Matches a reference in arguments to a value in the result of another held call. */
const REFERENCE = /\{\{(act_[0-9a-z]{26})\.result\.([^{}]*)\}\}/g;

export interface Reference {
  readonly actionId: string;
  /** JSON Pointer into the result; empty for the whole result. */
  readonly pointer: string;
}

/** Splits a text at its references to the results of other held calls. */
export function referencesIn(text: string): readonly (string | Reference)[] {
  const parts = text.split(REFERENCE);
  return parts.flatMap((part, index): (string | Reference)[] => {
    if (index % 3 === 0) return part === '' ? [] : [part];
    return index % 3 === 1 ? [{ actionId: part, pointer: parts[index + 1] ?? '' }] : [];
  });
}

/** Names a path in arguments for people: "labels › 0". */
export function placeInWords(pointer: string): string {
  return drawn(tokensOf(pointer).join(' › '));
}

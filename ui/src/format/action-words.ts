import type { Shape } from '#ui/api/types.ts';
import { drawn } from './drawn.ts';
import { tokensOf } from './json-pointer.ts';
import { humanize } from './run-words.ts';

type Action = Shape<'Action'>;

/** Words for the reasons of ends that no person decided. */
const REASONS: Readonly<Record<string, string>> = {
  expired: 'No one decided in time.',
  tool_changed: 'The server has changed or removed the tool, or its definition was confirmed again.',
  tool_disabled: 'The tool was disabled for the routine.',
  connection_removed: 'The connection of the tool was deleted.',
  connection_changed: 'The connection has another account or address now.',
  routine_archived: 'The routine was archived.',
  content_erased: 'Its arguments were erased with the texts of its run.',
  reference_ended: 'A call whose result it uses was not carried out.',
  reference_missing: 'The result that it uses has no such value.',
  call_refused: 'The call was refused before it was sent.',
  unreachable: 'The tool server could not be reached before the call expired.',
};

/** Returns the reason why an action ended; undefined if a person decided it. */
export function endOf({ reason }: Pick<Action, 'reason'>): string | undefined {
  return reason === null ? undefined : (REASONS[reason] ?? `${humanize(reason)}.`);
}

/** Returns true between the approval and the end of a call. */
export function isUnderWay({ state }: Pick<Action, 'state'>): boolean {
  return state === 'approved' || state === 'sending';
}

const LONGEST_LINE = 140;

/** Sums up the arguments of a call in a line: its texts, numbers and flags. */
export function argumentsLine({ arguments: given }: Pick<Action, 'arguments'>): string {
  if (given === null) return 'Its arguments are erased.';
  const values = Object.values(given).filter((value) => typeof value !== 'object' || value === null);
  const line = values.map(String).join(' · ').replaceAll(REFERENCE, '(a result)');
  return drawn(line.slice(0, LONGEST_LINE)).replaceAll(/\s+/g, ' ');
}

/** A value of the result of another held call, as arguments refer to it. */
const REFERENCE = /\{\{(act_[0-9a-z]{26})\.result\.([^{}]*)\}\}/g;

export interface Reference {
  readonly actionId: string;
  /** JSON Pointer into the result; empty for all of it. */
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

type Condition = Shape<'ToolRuleCondition'>;

/** The conditions of a standing rule. */
export type RuleTerms = Pick<Shape<'ToolRule'>, 'conditions' | 'maxUses'>;

/** Describes the calls that a standing rule lets through. */
export function ruleInWords({ conditions, maxUses }: RuleTerms): string {
  const all = conditions.map(conditionInWords).join(' and ');
  const uses = maxUses === null ? '' : maxUses === 1 ? ', once' : `, ${maxUses} times`;
  return `Calls whose ${all}, with any other arguments${uses}.`;
}

function conditionInWords(condition: Condition): string {
  const place = placeInWords(condition.pointer);
  if ('equals' in condition) return `${place} is ${quoted(condition.equals)}`;
  if ('in' in condition) return `${place} is ${condition.in.map(quoted).join(' or ')}`;
  if ('prefix' in condition) return `${place} begins with ${quoted(condition.prefix)}`;
  return `${place} is at most ${condition.atMost}`;
}

function quoted(value: string | number | boolean | null): string {
  return typeof value === 'string' ? `“${drawn(value)}”` : String(value);
}

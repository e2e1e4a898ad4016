import type { Shape } from '#ui/api/types.ts';
import { referencesIn } from '#ui/format/action-words.ts';
import { parseExact } from '#ui/format/exact-number.ts';
import { isObject, memberPointer } from '#ui/format/json-pointer.ts';

type Condition = Shape<'ToolRuleCondition'>;
export type Comparison = 'equals' | 'in' | 'prefix' | 'atMost';

export const COMPARISONS = [
  { value: 'equals', label: 'is' },
  { value: 'in', label: 'is one of' },
  { value: 'prefix', label: 'begins with' },
  { value: 'atMost', label: 'is at most' },
] as const satisfies readonly { value: Comparison; label: string }[];

/** An argument that a rule can compare. */
export interface Leaf {
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string;
  readonly value: string | number | boolean | null;
  readonly comparisons: readonly Comparison[];
}

/** The longest text that a condition compares with. */
const MAX_LENGTH = 2_000;
const MOST_LEAVES = 40;

/** Lists the arguments that a rule can compare: texts, numbers, flags and nulls, also inside of lists and objects. */
export function leavesOf(given: unknown, pointer = ''): readonly Leaf[] {
  if (isObject(given)) {
    const inside = Object.entries(given).flatMap(([name, value]) => leavesOf(value, memberPointer(pointer, name)));
    return inside.slice(0, MOST_LEAVES);
  }
  if (typeof given === 'string') {
    const isOwn = given.length <= MAX_LENGTH && referencesIn(given).every((part) => typeof part === 'string');
    return isOwn ? [{ pointer, value: given, comparisons: ['equals', 'in', 'prefix'] }] : [];
  }
  if (typeof given === 'number') return [{ pointer, value: given, comparisons: ['equals', 'in', 'atMost'] }];
  return typeof given === 'boolean' || given === null ? [{ pointer, value: given, comparisons: ['equals'] }] : [];
}

/** Reads a condition as typed; empty if a value is missing, or is not a number for an argument that is one. */
export function conditionOf({ pointer, value }: Leaf, comparison: Comparison, text: string): readonly Condition[] {
  if (typeof value !== 'string' && typeof value !== 'number') return [{ pointer, equals: value }];
  const read = (written: string) => (typeof value === 'number' ? numberIn(written) : written);
  if (comparison === 'in') {
    const values = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(read);
    const isWhole = values.length > 0 && values.every((each) => each !== undefined);
    return isWhole ? [{ pointer, in: values.filter((each) => each !== undefined) }] : [];
  }
  const written = read(text);
  if (written === undefined) return [];
  if (comparison === 'equals') return [{ pointer, equals: written }];
  if (comparison === 'prefix') return written === '' ? [] : [{ pointer, prefix: String(written) }];
  return typeof written === 'number' ? [{ pointer, atMost: written }] : [];
}

/** Reads a number; undefined for other text, and for a number that would be rounded. */
function numberIn(text: string): number | undefined {
  try {
    const value = parseExact(text);
    return typeof value === 'number' ? value : undefined;
  } catch {
    return undefined;
  }
}

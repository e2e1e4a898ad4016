import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { pointerToken, pointerTokens, valueAt } from '#lib/json-pointer.ts';
import type { ResultKey } from './result-section.ts';
import { isLocalReference, typeOf, typesOf } from './schema-types.ts';

export interface KeyFault {
  /** The part of the key that is wrong. */
  readonly at: keyof ResultKey;
  readonly message: string;
}

/**
 * Finds a key that no data by the schema can have: a list where it has none, or an item without the key in any of them.
 * Like `contradictionOf`, it finds plain cases only; where the schema leaves it open, each run checks its own data.
 */
export function keyFault(schema: JsonObject, { list, key }: ResultKey): KeyFault | undefined {
  const toList = pointerTokens(list);
  if (lacks(schema, { tokens: toList, types: ['array'] })) {
    return { at: 'list', message: 'nothing that satisfies the resultSchema has a list there' };
  }
  const toKey: readonly Step[] = [...toList, ITEM, ...pointerTokens(key)];
  if (!lacks(schema, { tokens: toKey, types: KEY_TYPES })) return undefined;
  const message = 'no item of the list can have a text, number or boolean there';
  return { at: 'key', message };
}

/** Stands for any item of a list. */
const ITEM: unique symbol = Symbol('item');
type Step = string | typeof ITEM;

const KEY_TYPES = ['string', 'number', 'integer', 'boolean'];

interface Wanted {
  readonly tokens: readonly Step[];
  readonly types: readonly string[];
}

/**
 * Parts of a schema that are looked at: more than any schema of the accepted size has, unless its references multiply.
 */
const MAX_LOOKS = 20_000;

/** Tells whether no value that satisfies the schema can have a value of these types there. */
function lacks(root: JsonObject, wanted: Wanted): boolean {
  let looks = 0;

  /** @param open the references that lead here, at the same place of the value */
  function look(part: unknown, tokens: readonly Step[], open: readonly string[]): boolean {
    looks += 1;
    if (looks > MAX_LOOKS) return false;
    if (part === false) return true;
    // Where it names itself, references have another base than the root.
    if (!isJsonObject(part) || (part !== root && '$id' in part)) return false;
    const { $ref } = part;
    if (typeof $ref === 'string') {
      const to = $ref.slice(1);
      if (!isLocalReference($ref) || open.includes(to)) return false;
      return look(valueAt(root, to), tokens, [...open, to]);
    }
    const lacking = (each: unknown) => look(each, tokens, open);
    return (
      partsOf(part, 'allOf').some(lacking) ||
      isEach(partsOf(part, 'anyOf'), lacking) ||
      isEach(partsOf(part, 'oneOf'), lacking) ||
      valuesLack(part, tokens, wanted.types) ||
      typeLacks(part, tokens)
    );
  }

  function typeLacks(part: JsonObject, tokens: readonly Step[]): boolean {
    const [step, ...rest] = tokens;
    const mayBe = (types: readonly string[]) =>
      typesOf(part)?.some((type) => types.some((each) => each === type)) ?? true;
    if (step === undefined) return !mayBe(wanted.types);
    const inObject = typeof step === 'string' && mayBe(['object']);
    const inArray = (step === ITEM || /^\d+$/.test(step)) && mayBe(['array']);
    return (
      !(inObject && !memberOf(part, step).every((each) => look(each, rest, []))) &&
      !(inArray && !itemsOf(part).every((each) => look(each, rest, [])))
    );
  }

  return look(root, wanted.tokens, ['']);
}

function partsOf(part: JsonObject, keyword: string): readonly unknown[] {
  const parts = part[keyword];
  return Array.isArray(parts) ? parts : [];
}

function isEach(parts: readonly unknown[], lacking: (part: unknown) => boolean): boolean {
  return parts.length > 0 && parts.every(lacking);
}

/** Tells whether the schema lists its values, and none of them has what is wanted. */
function valuesLack(part: JsonObject, tokens: readonly Step[], types: readonly string[]): boolean {
  const values = 'const' in part ? [part['const']] : part['enum'];
  return Array.isArray(values) && !values.some((value) => has(value, tokens, types));
}

function has(value: unknown, tokens: readonly Step[], types: readonly string[]): boolean {
  const [step, ...rest] = tokens;
  if (step === undefined) return types.includes(typeOf(value));
  if (step !== ITEM) return has(valueAt(value, `/${pointerToken(step)}`), rest, types);
  return Array.isArray(value) && value.some((each) => has(each, rest, types));
}

/** Returns the schemas of which a member satisfies one; one that says nothing where anything may be there. */
function memberOf(part: JsonObject, name: string): unknown[] {
  const { properties } = part;
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return [properties[name]];
  return 'patternProperties' in part ? [true] : [part['additionalProperties']];
}

/** Returns the schemas of which an item satisfies one, whichever item it is. */
function itemsOf(part: JsonObject): unknown[] {
  const { items, prefixItems, additionalItems } = part;
  if (Array.isArray(items)) return [...items, additionalItems];
  return [...(Array.isArray(prefixItems) ? prefixItems : []), items];
}

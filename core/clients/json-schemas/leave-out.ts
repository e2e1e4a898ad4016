import { isJsonObject, JSON_POINTER, valueAt, type JsonObject } from '#lib/json.ts';
import { cut } from '#lib/text.ts';
import { compileSchema, keywordFault, type LeftOutPart, type ReadableSchema } from './compile.ts';

/** Keywords whose value is a schema, or a list of schemas. */
export const SUBSCHEMAS = [
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
];
/** Keywords whose value is an object with schemas by name. */
export const NAMED_SUBSCHEMAS = [
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
];

/**
 * Reads a schema keyword by keyword, without the unreadable ones. Also leaves out keywords that would refuse more
 * without their neighbours, so that every value that fits the schema fits the reduced schema. A keyword with null
 * counts as missing.
 * @throws {Error} when the reduced schema cannot be compiled either
 */
export function readLeniently(schema: JsonObject): ReadableSchema {
  const first = readRoot(schema, {});
  // A definition that lost a keyword allows more, so a reference to it inside a negation refuses more: read the schema
  // again with such references left out.
  const read = first.leftOut.length === 0 ? first : readRoot(schema, { distrustsRefs: true });
  try {
    void compileSchema(read.schema);
    return read;
  } catch {
    // Names of schemas can contradict each other. References by place need no names, so drop the names.
    const unnamed = readRoot(schema, { distrustsRefs: true, dropsNames: true });
    void compileSchema(unnamed.schema);
    return unnamed;
  }
}

interface Manner {
  /** True to count a keyword with references as left out, in case the definition that a reference names lost a part. */
  readonly distrustsRefs?: boolean;
  readonly dropsNames?: boolean;
}

function readRoot(root: JsonObject, { distrustsRefs = false, dropsNames = false }: Manner): ReadableSchema {
  const leftOut: LeftOutPart[] = [];
  /** Places of the keywords that were left out or lost a part. */
  const shortened = new Set<string>();
  const dialect = root['$schema'];
  const anchors = JSON.stringify(root);

  function readNode(schema: JsonObject, at: string): JsonObject {
    const before = leftOut.length;
    const read = new Map<string, unknown>();
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === null && !VALUES.has(keyword)) continue;
      const place = at === '' ? keyword : `${at}.${keyword}`;
      const kept = readKeyword(schema, keyword, value, place);
      if (kept !== undefined) read.set(keyword, kept);
    }
    if (leftOut.length > before) leaveOutStricter(read, at);
    return Object.fromEntries(read);
  }

  function readKeyword(schema: JsonObject, keyword: string, value: unknown, place: string): unknown {
    const before = leftOut.length;
    let kept = value;
    if (NAMED_SUBSCHEMAS.includes(keyword) && isJsonObject(value)) kept = readNamed(keyword, value, place);
    else if (SUBSCHEMAS.includes(keyword)) kept = readHeld(value, place);
    const isLoosened = leftOut.length > before || (distrustsRefs && JSON.stringify(value).includes('"$ref"'));
    const fault =
      NEGATING.has(keyword) && isLoosened
        ? 'a part of it was left out'
        : keyword === '$ref' && !isResolved(value)
          ? 'its target does not exist'
          : dropsNames && NAMES.has(keyword)
            ? 'the names of its schemas contradict each other'
            : keywordFault(dialect, { keyword, value: kept, type: schema['type'] });
    if (fault === undefined) return kept;
    leftOut.push({ place, reason: fault });
    shortened.add(place);
    return undefined;
  }

  function readHeld(value: unknown, place: string): unknown {
    return Array.isArray(value)
      ? value.map((each, index) => readSchema(each, `${place}[${index}]`))
      : readSchema(value, place);
  }

  function readNamed(keyword: string, schemas: JsonObject, place: string): JsonObject {
    const read = new Map<string, unknown>();
    for (const [name, each] of Object.entries(schemas)) {
      const inner = `${place}.${cut(name, MAX_NAME_LENGTH)}`;
      const fault =
        keyword === 'patternProperties' ? keywordFault(dialect, { keyword: 'pattern', value: name }) : undefined;
      if (fault !== undefined) {
        leftOut.push({ place: inner, reason: fault });
        shortened.add(place);
        continue;
      }
      read.set(name, keyword === 'dependencies' && Array.isArray(each) ? each : readSchema(each, inner));
    }
    return Object.fromEntries(read);
  }

  /**
   * Replaces a value that is not a schema by a schema that accepts every value, so that the value's name or place stays
   * known.
   */
  function readSchema(value: unknown, place: string): unknown {
    if (isJsonObject(value)) return readNode(value, place);
    if (typeof value === 'boolean') return value;
    leftOut.push({ place, reason: 'is no schema' });
    return {};
  }

  /**
   * Leaves out a keyword that depends on the keywords beside it, such as `additionalProperties`, if one of them lost a
   * part.
   */
  function leaveOutStricter(read: Map<string, unknown>, at: string): void {
    const inside = at === '' ? '' : `${at}.`;
    for (const [keyword, others] of STRICTER) {
      const isOpen = !read.has(keyword) || read.get(keyword) === true;
      if (isOpen || !others.some((other) => hasLost(`${inside}${other}`))) continue;
      read.delete(keyword);
      leftOut.push({ place: `${inside}${keyword}`, reason: 'a keyword that it depends on was left out' });
    }
  }

  function hasLost(place: string): boolean {
    if (/[pP]roperties$/.test(place)) return shortened.has(place);
    return leftOut.some((each) => each.place.startsWith(place));
  }

  function isResolved(ref: unknown): boolean {
    if (typeof ref !== 'string' || !ref.startsWith('#')) return false;
    const fragment = decoded(ref.slice(1));
    if (!JSON_POINTER.test(fragment)) return !dropsNames && anchors.includes(`nchor":${JSON.stringify(fragment)}`);
    const target = valueAt(root, fragment);
    return isJsonObject(target) || typeof target === 'boolean';
  }

  return { schema: readNode(root, ''), leftOut };
}

const MAX_NAME_LENGTH = 100;
/** Keywords whose value may be null. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default']);
/** Keywords that name a schema, and keywords that refer to such a name. */
const NAMES: ReadonlySet<string> = new Set(['$id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef']);
/** Keywords that refuse more when a schema in them allows more. */
const NEGATING: ReadonlySet<string> = new Set(['not', 'oneOf', 'if']);
/** Keywords that refuse more when one of the keywords listed with them was left out. */
const STRICTER: readonly (readonly [string, readonly string[]])[] = [
  ['additionalProperties', ['properties', 'patternProperties']],
  ['unevaluatedProperties', ['properties', 'patternProperties', 'allOf', 'anyOf', 'oneOf', 'if', '$ref', 'dependent']],
  ['unevaluatedItems', ['items', 'prefixItems', 'contains', 'allOf', 'anyOf', 'oneOf', 'if', '$ref']],
  ['maxContains', ['contains']],
];

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

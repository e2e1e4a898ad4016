import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { pointerToken, valueAt } from '#lib/json-pointer.ts';
import { isLocalReference, typeOf, typesOf } from './schema-types.ts';

/**
 * Finds a part of a JSON Schema because of which nothing satisfies the whole: a bound above another, a required
 * property that no value may have, a schema that requires itself within itself. It finds plain contradictions only;
 * whether any value satisfies a schema is undecidable in general.
 * @returns a JSON Pointer into the schema, undefined when none was found
 */
export function contradictionOf(schema: JsonObject): string | undefined {
  let looks = 0;

  /** @param open the references that lead here; one that recurs would nest for ever */
  function look(part: unknown, path: string, open: readonly string[]): string | undefined {
    looks += 1;
    if (looks > MAX_LOOKS) return undefined;
    if (part === false) return path;
    if (!isJsonObject(part)) return undefined;
    // Another base for references than the root.
    if (path !== '' && '$id' in part) return undefined;
    const { $ref } = part;
    if (typeof $ref === 'string') {
      if (!isLocalReference($ref)) return undefined;
      const to = $ref.slice(1);
      if (open.includes(to)) return path;
      const inside = look(valueAt(schema, to), to, [...open, to]);
      return inside === undefined ? undefined : path;
    }
    return ownContradiction(part, path) ?? inNeededParts(part, path, open);
  }

  /** Looks into the parts that every valid value has to satisfy. */
  function inNeededParts(
    part: JsonObject,
    path: string,
    open: readonly string[],
  ): string | undefined {
    for (const [name, needed] of neededParts(part)) {
      const found = look(needed, `${path}/${name}`, open);
      if (found !== undefined) return found;
    }
    for (const keyword of ['anyOf', 'oneOf']) {
      const choices = part[keyword];
      if (!Array.isArray(choices) || choices.length === 0) continue;
      const at = `${path}/${keyword}`;
      if (choices.every((each, index) => look(each, `${at}/${index}`, open) !== undefined)) {
        return at;
      }
    }
    return undefined;
  }

  return look(schema, '', ['']);
}

/** Limit of visited schema parts, above the number in any accepted schema unless its references multiply. */
const MAX_LOOKS = 20_000;

/** Lists the subschemas that apply to every value of the only type that the schema allows. */
function neededParts(part: JsonObject): [string, unknown][] {
  const all = Array.isArray(part['allOf'])
    ? part['allOf'].map((each: unknown, index): [string, unknown] => [`allOf/${index}`, each])
    : [];
  if (isOnly(part, 'object')) return [...all, ...neededProperties(part)];
  if (isOnly(part, 'array') && Number(part['minItems'] ?? 0) >= 1 && !('prefixItems' in part)) {
    return Array.isArray(part['items']) ? all : [...all, ['items', part['items']]];
  }
  return all;
}

function neededProperties(part: JsonObject): [string, unknown][] {
  const { required, properties } = part;
  if (!Array.isArray(required)) return [];
  const known = isJsonObject(properties) ? properties : {};
  return required.flatMap((name: unknown): [string, unknown][] => {
    if (typeof name !== 'string') return [];
    if (Object.hasOwn(known, name)) return [[`properties/${pointerToken(name)}`, known[name]]];
    if ('patternProperties' in part) return [];
    return [['additionalProperties', part['additionalProperties']]];
  });
}

const BOUNDS = [
  ['string', 'minLength', 'maxLength'],
  ['array', 'minItems', 'maxItems'],
  ['object', 'minProperties', 'maxProperties'],
  ['number', 'minimum', 'maximum'],
  ['integer', 'minimum', 'maximum'],
] as const;

/** Finds a contradiction between the keywords of one schema. */
function ownContradiction(part: JsonObject, path: string): string | undefined {
  const { not } = part;
  if (not === true || (isJsonObject(not) && Object.keys(not).length === 0)) return `${path}/not`;
  const choices = Array.isArray(part['enum']) ? part['enum'] : undefined;
  if (choices !== undefined && !choices.some((value) => mayBe(part, value))) return `${path}/enum`;
  if ('const' in part && !mayBe(part, part['const'])) return `${path}/const`;
  const crossed = BOUNDS.find(
    ([type, least, most]) => isOnly(part, type) && Number(part[least]) > Number(part[most]),
  );
  return crossed === undefined ? undefined : `${path}/${crossed[1]}`;
}

function isOnly(part: JsonObject, type: string): boolean {
  const allowed = typesOf(part);
  return allowed?.length === 1 && allowed[0] === type;
}

/** Returns true when the schema's `type` admits the value. */
function mayBe(part: JsonObject, value: unknown): boolean {
  const allowed = typesOf(part);
  if (allowed === undefined) return true;
  return allowed.some((type) =>
    type === 'integer' ? Number.isInteger(value) : type === typeOf(value),
  );
}

import { isJsonObject } from '#lib/json.ts';

/** Keywords that only restrict values of responses. Clients need not check those values. */
const CHECKS = ['additionalProperties', 'example', 'maxItems', 'maxLength', 'maximum', 'minimum', 'pattern'];

/** Matches the pattern of ids and cursors, which are opaque. */
const OPAQUE = /\[0-7\]\[0-9a-hjkmnp-tv-z\]\{25\}/;

/**
 * Drops keywords that generators do not use and readers do not miss: patterns and examples of ids, cursors and texts
 * with a format, the limits of names, and descriptions such as "Id of the run."
 */
export function withoutForms<D extends object>(document: D): D {
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { pattern, format, description, in: isParameter } = fieldsOf(value);
    const isForm = typeof format === 'string' || (typeof pattern === 'string' && OPAQUE.test(pattern));
    if (isForm) drop(value, ['pattern', 'example', 'allOf']);
    if (isParameter === undefined && typeof description === 'string' && /^Id of the \w+\.$/.test(description)) {
      drop(value, ['description']);
    }
    drop(value, ['propertyNames', 'not']);
    // Fields are visited separately, because a field may have the name of a keyword.
    const { properties, ...others } = fieldsOf(value);
    [...Object.values(fieldsOf(properties)), ...Object.values(Array.isArray(value) ? value : others)].forEach(visit);
  };
  visit(document);
  return document;
}

/**
 * Keeps types and descriptions in the schemas of responses, and drops keywords that only check a value. A generated
 * client then accepts fields of a later release, and the document is a third smaller.
 */
export function withLeanSchemas<D extends object>(document: D): D {
  const { components = {}, paths = {} }: { components?: unknown; paths?: unknown } = document;
  const { schemas, parameters } = fieldsOf(components);
  const operations = Object.values(fieldsOf(paths)).flatMap((path) => Object.values(fieldsOf(path)).map(fieldsOf));
  const ofRequests = new Set<unknown>();

  function keep(value: unknown): void {
    if (typeof value !== 'object' || value === null || ofRequests.has(value)) return;
    ofRequests.add(value);
    const { $ref: ref } = fieldsOf(value);
    if (typeof ref === 'string') keep(fieldsOf(schemas)[ref.split('/').at(-1) ?? '']);
    Object.values(value).forEach(keep);
  }

  function cut(value: unknown): void {
    if (typeof value !== 'object' || value === null || ofRequests.has(value)) return;
    const { properties } = fieldsOf(value);
    drop(value, checksOf(value));
    for (const [keyword, inner] of Object.entries(value)) if (keyword !== 'properties') cut(inner);
    Object.values(fieldsOf(properties)).forEach(cut);
  }

  for (const { parameters: own, requestBody } of operations) [own, requestBody].forEach(keep);
  keep(parameters);
  for (const schema of Object.values(fieldsOf(schemas))) cut(schema);
  for (const { responses } of operations) Object.values(fieldsOf(responses)).forEach(cut);
  return document;
}

/** Returns the keywords that only check. In a record, `additionalProperties` is the type of the values and stays. */
function checksOf(schema: object): readonly string[] {
  return isJsonObject(fieldsOf(schema)['additionalProperties']) ? CHECKS.slice(1) : CHECKS;
}

/** Copies a schema without the keywords that only check values. */
export function withoutChecks(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (isJsonObject(value)) drop(value, checksOf(value));
    return value;
  });
}

function drop(schema: object, keywords: readonly string[]): void {
  for (const keyword of keywords) Reflect.deleteProperty(schema, keyword);
}

export function fieldsOf(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? value : {};
}

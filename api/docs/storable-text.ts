import { isJsonObject } from '#lib/json.ts';

/** Pattern of every text in a request: Postgres stores no NUL, so none gets past the parser. */
const STORABLE = String.raw`^[^\u0000]*$`;

const UNIONS = ['anyOf', 'oneOf', 'allOf'];

/** Says more than the pattern would. */
const EXACT = ['pattern', 'enum', 'const', 'format', '$ref'];

/**
 * Adds to the finished document what the pipeline refuses in every request of every operation: a NUL in a text. Texts
 * that have a pattern or a closed list of values exclude it themselves.
 */
export function withStorableText<D extends object>(document: D): D {
  const requests = new Set<unknown>();
  const schemas = member(member(document, 'components'), 'schemas');
  const visit = (schema: unknown): void => {
    if (Array.isArray(schema)) return schema.forEach(visit);
    if (!isJsonObject(schema) || requests.has(schema)) return undefined;
    requests.add(schema);
    const { $ref: ref } = schema;
    if (typeof ref === 'string') visit(member(schemas, ref.split('/').at(-1) ?? ''));
    const isExact = EXACT.some((keyword) => keyword in schema) && schema['format'] !== 'password';
    if (schema['type'] === 'string' && !isExact) {
      Object.assign(schema, { pattern: STORABLE });
    }
    for (const keyword of ['items', 'additionalProperties', 'propertyNames', ...UNIONS]) {
      visit(schema[keyword]);
    }
    Object.values(member(schema, 'properties') ?? {}).forEach(visit);
    return undefined;
  };
  for (const path of Object.values(member(document, 'paths') ?? {})) {
    for (const operation of isJsonObject(path) ? Object.values(path) : []) {
      const { parameters = [] } = isJsonObject(operation) ? operation : {};
      if (Array.isArray(parameters)) parameters.forEach((each) => visit(member(each, 'schema')));
      const content = member(member(operation, 'requestBody'), 'content');
      visit(member(member(content, 'application/json'), 'schema'));
    }
  }
  return document;
}

function member(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  const found = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(found) ? found : undefined;
}

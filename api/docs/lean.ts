import { isJsonObject } from '#lib/json.ts';

/** Keywords that only restrict values of responses. Clients need not check those values. */
const CHECKS = [
  'additionalProperties',
  'example',
  'maxItems',
  'maxLength',
  'maximum',
  'minimum',
  'pattern',
  'propertyNames',
];

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
    if (fieldsOf(value)['format'] === 'date-time') drop(value, ['pattern', 'allOf']);
    Object.values(value).forEach(keep);
  }

  function cut(value: unknown): void {
    if (typeof value !== 'object' || value === null || ofRequests.has(value)) return;
    const { properties, additionalProperties: others } = fieldsOf(value);
    drop(value, isJsonObject(others) ? CHECKS.slice(1) : CHECKS);
    for (const [keyword, inner] of Object.entries(value)) if (keyword !== 'properties') cut(inner);
    Object.values(fieldsOf(properties)).forEach(cut);
  }

  for (const { parameters: own, requestBody } of operations) [own, requestBody].forEach(keep);
  keep(parameters);
  for (const schema of Object.values(fieldsOf(schemas))) cut(schema);
  for (const { responses } of operations) Object.values(fieldsOf(responses)).forEach(cut);
  const ofResponses = Object.entries(fieldsOf(schemas)).filter(([, schema]) => !ofRequests.has(schema));
  extend(ofResponses.map(([name, schema]) => objectOf(name, schema)).filter(({ fields }) => fields.length > 0));
  return document;
}

interface NamedObject {
  readonly name: string;
  readonly schema: object;
  readonly fields: readonly string[];
  /** Each field with its schema as text, and whether it is required. */
  readonly written: ReadonlySet<string>;
}

function objectOf(name: string, value: unknown): NamedObject {
  const schema = isJsonObject(value) ? value : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(fieldsOf(schema['properties']));
  const written = fields.map(([field, type]) => JSON.stringify([field, type, required.includes(field)]));
  return { name, schema, fields: fields.map(([field]) => field), written: new Set(written) };
}

/** Fields below which an object is written out. */
const MANY_FIELDS = 8;

/** Writes an object that has all fields of another one as an extension of that one. */
function extend(objects: readonly NamedObject[]): void {
  const bySize = objects.toSorted((a, b) => b.fields.length - a.fields.length);
  for (const [at, larger] of bySize.entries()) {
    const base = bySize
      .slice(at + 1)
      .find(
        ({ fields, written }) =>
          fields.length >= MANY_FIELDS && [...written].every((field) => larger.written.has(field)),
      );
    if (base === undefined) continue;
    const { properties, required, type, ...rest } = fieldsOf(larger.schema);
    const own = Object.entries(fieldsOf(properties)).filter(([field]) => !base.fields.includes(field));
    const demanded = Array.isArray(required) ? required.filter((field) => !base.fields.includes(String(field))) : [];
    const more = { type, properties: Object.fromEntries(own), ...(demanded.length > 0 && { required: demanded }) };
    drop(larger.schema, ['type', 'properties', 'required']);
    Object.assign(larger.schema, rest, { allOf: [{ $ref: `#/components/schemas/${base.name}` }, more] });
  }
}

function drop(schema: object, keywords: readonly string[]): void {
  for (const keyword of keywords) Reflect.deleteProperty(schema, keyword);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { buildOpenApi } from '#api/docs/openapi.ts';
import { routes } from '#api/routes.ts';

/** The part of JSON Schema from which values are made. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly example?: unknown;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Reference {
  readonly $ref: string;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, Content | Reference>>;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

/** The OpenAPI document as a reader gets it, parsed from JSON. */
export const document = JSON.parse(
  JSON.stringify(buildOpenApi(routes, { publicUrl: 'https://api.acme.dev', productTag: 'ras' })),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
};

export function operationOf({ method, path }: { method: string; path: string }): Operation {
  const found = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${method} ${path} is not in the document`);
  return found;
}

export function parametersOf(route: { method: string; path: string }): readonly Parameter[] {
  const { parameters = [] } = operationOf(route);
  return parameters.map((parameter) =>
    '$ref' in parameter ? document.components.parameters[nameIn(parameter.$ref)]! : parameter,
  );
}

function nameIn(ref: string): string {
  return ref.split('/').at(-1) ?? '';
}

/** Returns a function that tells whether a value fits a schema of the document, by an independent validator. */
export function documented(schema: Schema): (value: unknown) => boolean {
  const check = validatorOf(schema);
  return (value) => check(value);
}

const ajv = formats.default(new Ajv2020({ strict: false, logger: false, validateFormats: true }));
ajv.addSchema({ $id: 'document', components: document.components });

/** Compiles a schema of the document. The named schemas that it refers to are compiled once for all schemas. */
export function validatorOf(schema: Schema): ValidateFunction {
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')));
}

const NASTY: readonly unknown[] = [
  null, true, false, 0, -1, 1.5, 2 ** 31, 2 ** 53, 1e308,
  '', ' ', '0', '\u0000', 'a\u0000b', '\n', '\u007f', '\u202e', 'x'.repeat(300), ' padded ',
  'now', 'null', '2026-01-01', '2026-01-01T00:00:00Z', 'https://example.com/', 'UTC', 'a@b.co',
  [], [[]], {}, { a: 1 }, ['a', 'a'], { '': '' }, { now: 'x' }, { 'a b': '' },
];

/** Makes values that fit a schema, except for a few parts that may be anything. */
export function nearly(schema: Schema): fc.Arbitrary<unknown> {
  // Free JSON accepts almost any value. It refuses a NUL and a name `__proto__`, which no schema can express.
  if (Object.keys(schema).length === 0) return fitting(schema);
  const nasty = fc.constantFrom(...NASTY).map((value) => structuredClone(value));
  return fc.oneof(
    { weight: 40, arbitrary: fitting(schema) },
    { weight: 1, arbitrary: nasty },
  );
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    return nearly(document.components.schemas[nameIn(schema.$ref)] ?? {});
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  const { anyOf, oneOf = anyOf, ...common } = schema;
  if (oneOf !== undefined) return fc.oneof(...oneOf.map((each) => nearly(both(common, each))));
  switch (schema.type) {
    case 'object':
      return objects(schema);
    case 'array':
      return arrays(schema);
    case 'string':
      return texts(schema);
    case 'integer':
    case 'number':
      return numbers(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 }).filter(isUsable);
  }
}

/** Joins two schemas: a value must fit the choice and the fields beside the choices. */
function both(common: Schema, choice: Schema): Schema {
  if (common.properties === undefined) return choice;
  return {
    ...common,
    required: [...(common.required ?? []), ...(choice.required ?? [])],
    properties: { ...common.properties, ...choice.properties },
  };
}

function arrays({ items = {}, minItems = 0, maxItems = 3 }: Schema): fc.Arbitrary<unknown> {
  const most = Math.max(Math.min(maxItems, 3), minItems);
  const few = fc.array(nearly(items), { minLength: minItems, maxLength: most });
  const another = fc.array(nearly(items), { minLength: most + 1, maxLength: most + 1 });
  return fc.oneof({ weight: 9, arbitrary: few }, { weight: 1, arbitrary: another });
}

const MOST_OPTIONAL = 4;

function objects(schema: Schema): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties: more } = schema;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  // Only a few optional fields at a time, because thirty fields that each nearly fit hardly ever all fit.
  const known = fc.subarray(optional, { maxLength: Math.min(MOST_OPTIONAL, optional.length) }).chain((chosen) => {
    const named = [...required, ...chosen].map((name) => [name, nearly(properties[name] ?? {})]);
    return fc.record(Object.fromEntries(named) as Record<string, fc.Arbitrary<unknown>>);
  });
  if (more === undefined || typeof more === 'boolean') {
    // Sometimes add an unknown field.
    return fc.oneof(
      { weight: 9, arbitrary: known },
      { weight: 1, arbitrary: known.map((value) => ({ ...value, unknown: 1 })) },
    );
  }
  const names = schema.propertyNames === undefined ? fc.string() : fitting(schema.propertyNames);
  return fc.dictionary(names.map(String), nearly(more), { maxKeys: 4 }).filter(isUsable);
}

function isUsable(value: unknown): boolean {
  return !JSON.stringify(value).includes('"__proto__":');
}

function texts({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  switch (format) {
    case 'email':
      return fc.emailAddress();
    case 'uri':
      return fc.webUrl();
    case 'date':
      return fc.constantFrom('2026-02-28', '2026-02-30', '0001-01-01', '2026-1-1');
    case 'date-time':
      return fc.constantFrom(
        '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123+05:30', '2026-01-01t00:00:00z',
        '2026-01-01T23:59:60Z', '2026-01-01 00:00:00Z', '2026-01-01T00:00Z', '2026-01-01',
      );
    default:
  }
  if (pattern?.includes('(?') === true) {
    // The generator does not support such groups. The patterns with groups are those of sums of money.
    return fc.constantFrom('1', '0.50', '25.00', '0', '0.00', '-1', '1.', '1e3', '1234567890');
  }
  if (pattern !== undefined && !pattern.startsWith('^[^\\u0000]*')) {
    return textsMatching(pattern, Math.max(maxLength + 1, 100));
  }
  const plain = fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) });
  const edges = fc.constantFrom(
    'x'.repeat(maxLength), 'x'.repeat(maxLength + 1), ' '.repeat(minLength),
    'x'.repeat(Math.max(minLength - 1, 0)), `${'x'.repeat(minLength)}\u0000`,
  );
  return fc.oneof({ weight: 9, arbitrary: plain }, { weight: 1, arbitrary: edges });
}

const matching = new Map<string, fc.Arbitrary<string>>();

/** Caches the generator of a pattern, because parsing a pattern takes longer than making a value. */
function textsMatching(pattern: string, maxLength: number): fc.Arbitrary<string> {
  const key = `${maxLength} ${pattern}`;
  const known = matching.get(key) ?? fc.stringMatching(new RegExp(pattern), { maxLength });
  matching.set(key, known);
  return known;
}

function numbers({ type, minimum = -1_000, maximum = minimum + 1_000_000 }: Schema) {
  const whole = fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
  const edges = fc.constantFrom(minimum - 1, minimum, maximum, maximum + 1, minimum + 0.5);
  const others = type === 'integer' ? edges : fc.oneof(edges, fc.double());
  return fc.oneof({ weight: 9, arbitrary: whole }, { weight: 1, arbitrary: others });
}

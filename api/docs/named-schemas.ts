import { isJsonObject, type JsonObject } from '#lib/json.ts';

/** A schema of the document while it is rewritten. */
type Schema = Record<string, unknown>;

const UNIONS = ['anyOf', 'oneOf'] as const;

/** Keywords that may differ between the places of a schema. All other keywords describe the value. */
const OF_THE_PLACE = new Set(['default', 'deprecated', 'description', 'example']);

/**
 * Rewrites the schemas of a document for generators of clients; the same values stay valid. Afterwards:
 * - each object with fields is a component of its own, named by its place, with `$ref` wherever it occurs;
 * - no component allows null: where null is allowed, the place with the `$ref` says so;
 * - a schema has one type, a constant becomes a list of one value, and a condition on an object becomes `if`, `else`.
 */
export function withNamedSchemas<D extends object>(document: D): D {
  const components = asSchema(asSchema(document)['components']);
  const schemas = asSchema(components['schemas']);
  const naming = new Naming(schemas);
  const rewritten = Object.entries(schemas).map(([name, schema]) => [name, naming.component(name, asSchema(schema))]);
  for (const parameter of Object.values(asSchema(components['parameters']))) naming.parameter(asSchema(parameter), '');
  for (const path of Object.values(asSchema(asSchema(document)['paths']))) {
    for (const operation of Object.values(asSchema(path))) naming.operation(asSchema(operation));
  }
  components['schemas'] = Object.fromEntries([...rewritten, ...naming.added]);
  return document;
}

/** Names the objects of one document. */
class Naming {
  /** The components that were added, by name. */
  readonly added = new Map<string, Schema>();
  readonly #taken: Set<string>;
  readonly #schemas: JsonObject;
  /** Names of components by their content, so that equal objects share one component. */
  readonly #nameOf = new Map<string, string>();

  constructor(schemas: JsonObject) {
    this.#taken = new Set(Object.keys(schemas));
    this.#schemas = schemas;
  }

  /** Rewrites a component of the document. */
  component(name: string, schema: Schema): Schema {
    const { default: _, anyOf, ...rest } = withOneType(schema);
    if (anyOf === undefined || !this.#isNullable(schema)) return this.#inner(schema, name);
    const choices = listOf(anyOf).filter((choice) => !isNull(choice));
    const [only] = choices;
    return this.#inner(
      choices.length === 1 && only !== undefined ? { ...only, ...rest } : { ...rest, anyOf: choices },
      name,
    );
  }

  /** Names the schemas of an operation's request and responses. */
  operation({ operationId, parameters, requestBody, responses }: Schema): void {
    const name = pascal(String(operationId));
    for (const parameter of listOf(parameters)) this.parameter(parameter, name);
    for (const content of contentsOf(requestBody))
      content['schema'] = this.#rewritten(asSchema(content['schema']), `${name}Body`);
    for (const content of Object.values(asSchema(responses)).flatMap(contentsOf)) {
      // The envelope becomes no component: clients name it after the operation.
      content['schema'] = this.#inner(asSchema(content['schema']), name);
    }
  }

  parameter(parameter: Schema, operation: string): void {
    const { schema, name } = parameter;
    if (schema === undefined) return;
    // The parameter keeps its own description, so its schema needs none.
    const { description: _, ...rest } = asSchema(schema);
    parameter['schema'] = this.#rewritten(rest, operation + pascal(String(name)));
  }

  /** Rewrites the schema of a field or parameter. */
  #rewritten(schema: Schema, name: string): Schema {
    const { $ref: ref } = schema;
    if (typeof ref === 'string') return this.#reference(ref, schema);
    const inner = this.#inner(schema, name);
    if (!isJsonObject(inner['properties'])) return inner;
    const place = Object.entries(inner).filter(([keyword]) => OF_THE_PLACE.has(keyword));
    const value = Object.entries(inner).filter(([keyword]) => !OF_THE_PLACE.has(keyword));
    return { $ref: this.#named(name, Object.fromEntries(value)), ...Object.fromEntries(place) };
  }

  #reference(ref: string, schema: Schema): Schema {
    const { $ref: _, ...rest } = schema;
    const target = this.#target(ref);
    if (!this.#isNullable(target)) return schema;
    const fallback = 'default' in target ? { default: target['default'] } : {};
    return { ...fallback, ...rest, anyOf: [{ $ref: ref }, { type: 'null' }] };
  }

  #target(ref: string): Schema {
    return asSchema(this.#schemas[ref.split('/').at(-1) ?? '']);
  }

  /** Tells whether a component may be null, or refers to one that may. */
  #isNullable(schema: Schema): boolean {
    const { $ref: ref, anyOf } = withOneType(schema);
    return typeof ref === 'string' ? this.#isNullable(this.#target(ref)) : listOf(anyOf).some(isNull);
  }

  /** Makes an object a component, with a number in the name if the name is taken. */
  #named(wanted: string, schema: Schema): string {
    const form = JSON.stringify(schema);
    let name = this.#nameOf.get(form) ?? wanted;
    if (!this.#nameOf.has(form)) {
      for (let count = 2; this.#taken.has(name); count += 1) name = `${wanted}${count}`;
      this.#taken.add(name);
      this.#nameOf.set(form, name);
      this.added.set(name, schema);
    }
    return `#/components/schemas/${name}`;
  }

  /** Rewrites the parts of a schema; the schema itself gets no name. */
  #inner(schema: Schema, name: string): Schema {
    const one = withOneType(schema);
    const { const: constant, properties, items, additionalProperties: others, anyOf } = one;
    if (properties !== undefined && anyOf !== undefined) return this.#inner(withCondition(one), name);
    const union = UNIONS.find((keyword) => keyword in one);
    const { const: _, ...kept } = one;
    return {
      ...kept,
      ...(constant !== undefined && { enum: [constant] }),
      ...(isJsonObject(properties) && { properties: this.#fields(properties, name) }),
      ...(isJsonObject(items) && { items: this.#rewritten(asSchema(items), `${name}Item`) }),
      ...(isJsonObject(others) && { additionalProperties: this.#rewritten(asSchema(others), `${name}Value`) }),
      ...(union !== undefined && { [union]: this.#choices(listOf(one[union]), name) }),
    };
  }

  #fields(properties: JsonObject, name: string): Schema {
    const each = Object.entries(properties);
    return Object.fromEntries(
      each.map(([field, schema]) => [field, this.#rewritten(asSchema(schema), name + pascal(field))]),
    );
  }

  /** Rewrites the choices of a union, and merges nested unions and choices that may be null. */
  #choices(choices: readonly Schema[], name: string): Schema[] {
    const rewritten = choices.map((choice) => {
      const kind = Object.values(asSchema(choice['properties']))
        .map((field) => asSchema(field)['const'])
        .find((constant) => typeof constant === 'string');
      return this.#rewritten(choice, name + pascal(kind ?? ''));
    });
    const flat = rewritten.flatMap((choice) =>
      Object.keys(choice).join() === 'anyOf' ? listOf(choice['anyOf']) : [choice],
    );
    return [...flat.filter((choice) => !isNull(choice)), ...flat.filter(isNull).slice(0, 1)];
  }
}

function withOneType(schema: Schema): Schema {
  const { type, ...rest } = schema;
  if (!Array.isArray(type)) return schema;
  const place = Object.entries(rest).filter(([keyword]) => OF_THE_PLACE.has(keyword));
  const value = Object.fromEntries(Object.entries(rest).filter(([keyword]) => !OF_THE_PLACE.has(keyword)));
  const choices = type.map((each: unknown) => (each === 'null' ? { type: each } : { type: each, ...value }));
  return { ...Object.fromEntries(place), anyOf: choices };
}

function contentsOf(holder: unknown): Schema[] {
  return Object.values(asSchema(asSchema(holder)['content'])).map(asSchema);
}

/** Writes conditions as `if` and `else`, because generators of clients read a choice as several types. */
function withCondition({ anyOf, ...object }: Schema): Schema {
  const [first = {}, ...others] = listOf(anyOf);
  const [second, ...more] = others;
  if (second === undefined) return { ...object, allOf: [first] };
  return { ...object, if: first, else: more.length === 0 ? second : { anyOf: others } };
}

function isNull(schema: unknown): boolean {
  return asSchema(schema)['type'] === 'null';
}

export function pascal(text: string): string {
  return text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]|$)/g, (_, letter: string) => letter.toUpperCase());
}

function listOf(value: unknown): Schema[] {
  return Array.isArray(value) ? value.map(asSchema) : [];
}

function asSchema(value: unknown): Schema {
  return isJsonObject(value) ? value : {};
}

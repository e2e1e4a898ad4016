import { isJsonObject } from '#lib/json.ts';
import { fieldsOf } from './lean.ts';

type Schemas = Record<string, unknown>;

interface NamedObject {
  readonly name: string;
  readonly schema: Record<string, unknown>;
  /** Names of the fields by key. A key combines the name, the schema, and whether the field is required. */
  readonly fields: Fields;
  /** True when other fields are forbidden. Strict objects share a base only with strict objects. */
  readonly isStrict: boolean;
}

type Fields = ReadonlyMap<string, string>;

/** The fewest fields of an object that shares fields. */
const MANY_FIELDS = 8;

/** The fewest bytes of the fields that objects share. */
const MUCH = 1_000;

/**
 * Makes objects with many common fields extend another object: the smaller one if the larger has all of its fields,
 * else a new object with the common fields.
 */
export function shareBases(schemas: Schemas): void {
  const objects = Object.entries(schemas)
    .map(([name, schema]) => objectOf(name, fieldsOf(schema)))
    .filter(({ fields }) => fields.size >= MANY_FIELDS)
    .toSorted((a, b) => b.fields.size - a.fields.size);
  const waiting = new Set(objects);
  for (const [at, larger] of objects.entries()) {
    const base = objects.slice(at + 1).find((each) => !each.isStrict && !larger.isStrict && hasAll(larger, each));
    if (base === undefined) continue;
    extend(larger, base);
    waiting.delete(larger);
  }
  for (let pair = closest([...waiting]); pair !== undefined; pair = closest([...waiting])) {
    const { members, shared } = grown([pair.one, pair.other], pair.shared, [...waiting]);
    const base = baseOf(schemas, members, shared);
    for (const member of members) {
      extend(member, base);
      waiting.delete(member);
    }
  }
}

function hasAll({ fields }: NamedObject, base: NamedObject): boolean {
  return base.fields.size < fields.size && common(base.fields, fields).size === base.fields.size;
}

function closest(objects: readonly NamedObject[]) {
  const pairs = objects.flatMap((one, at) =>
    objects.slice(at + 1).map((other) => ({ one, other, shared: common(one.fields, other.fields) })),
  );
  return pairs
    .filter(({ one, other, shared }) => one.isStrict === other.isStrict && bytesOf(shared) > MUCH)
    .toSorted((a, b) => bytesOf(b.shared) - bytesOf(a.shared))[0];
}

/** Adds objects to the members as long as each one makes the shared fields save more bytes. */
function grown(members: readonly NamedObject[], shared: Fields, waiting: readonly NamedObject[]) {
  for (const each of waiting) {
    if (members.includes(each) || each.isStrict !== members[0]?.isStrict) continue;
    const fewer = common(shared, each.fields);
    if (bytesOf(fewer) * members.length <= bytesOf(shared) * (members.length - 1)) continue;
    return grown([...members, each], fewer, waiting);
  }
  return { members, shared };
}

/** Makes a component of common fields, named by the words that the objects have in common. */
function baseOf(
  schemas: Schemas,
  members: readonly NamedObject[],
  shared: Fields,
): Pick<NamedObject, 'name' | 'fields'> {
  const { properties, required } = fieldsOf(members[0]?.schema);
  const names = [...shared.values()];
  const demanded = names.filter((name) => Array.isArray(required) && required.includes(name));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, fieldsOf(properties)[name]])),
    ...(demanded.length > 0 && { required: demanded }),
  };
  const [words = [], ...others] = members.map((each): string[] => each.name.match(/[A-Z][a-z0-9]*/g) ?? []);
  const inAll = words.filter((word) => others.every((each) => each.includes(word)));
  const name = untaken(schemas, `${inAll.join('') || members[0]?.name}Fields`);
  schemas[name] = schema;
  return { name, fields: shared };
}

function extend({ schema, fields }: NamedObject, base: Pick<NamedObject, 'name' | 'fields'>): void {
  const { type, properties, required, additionalProperties, ...rest } = schema;
  const inherited = new Set(base.fields.values());
  const own = Object.entries(fieldsOf(properties)).filter(([field]) => !inherited.has(field));
  const demanded = Array.isArray(required) ? required.filter((field) => !inherited.has(String(field))) : [];
  const more = { type, properties: Object.fromEntries(own), ...(demanded.length > 0 && { required: demanded }) };
  for (const keyword of Object.keys(schema)) Reflect.deleteProperty(schema, keyword);
  Object.assign(schema, rest, {
    // Write two parts, neither of them empty: generators take a single part for an alias, and linters refuse an empty
    // one.
    allOf: [
      { $ref: `#/components/schemas/${base.name}` },
      fields.size === inherited.size ? { description: 'No other fields.' } : more,
    ],
    ...(additionalProperties === false && { unevaluatedProperties: false }),
  });
}

function objectOf(name: string, schema: Record<string, unknown>): NamedObject {
  const { properties, required, additionalProperties: others } = schema;
  const demanded = new Set(Array.isArray(required) ? required : []);
  const written = Object.entries(fieldsOf(properties)).map(
    ([field, type]) => [JSON.stringify([field, type, demanded.has(field)]), field] as const,
  );
  return { name, schema, fields: new Map(isJsonObject(others) ? [] : written), isStrict: others === false };
}

function common(one: Fields, other: Fields): Fields {
  return new Map([...one].filter(([text]) => other.has(text)));
}

function bytesOf(shared: Fields): number {
  return [...shared.keys()].reduce((sum, text) => sum + text.length, 0);
}

/** Returns a name that no component has. */
export function untaken(schemas: object, wanted: string): string {
  let name = wanted;
  for (let count = 2; Object.hasOwn(schemas, name); count += 1) name = `${wanted}${count}`;
  return name;
}

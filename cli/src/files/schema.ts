import { isDeepStrictEqual } from 'node:util';
import type { FieldPath } from './document.ts';
import { didYouMean } from './faults.ts';

/** The part of JSON Schema that the heads use. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
}

export interface SchemaFault {
  readonly path: FieldPath;
  /** True if the fault is the name of a field, and not its value. */
  readonly ofName?: true;
  readonly message: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Lists the faults of a value by its schema. The service checks schedules, models and references. */
export function schemaFaults(
  root: JsonSchema,
  value: unknown,
  schema: JsonSchema = root,
  path: FieldPath = [],
): SchemaFault[] {
  const said = resolved(root, schema);
  const fault = (message: string): SchemaFault[] => [{ path, message }];
  const within = (part: JsonSchema) => schemaFaults(root, value, part, path);
  if (said.oneOf !== undefined) {
    const branch = branchOf(said.oneOf, value);
    return branch === undefined ? fault(`its type is none of ${typesOf(said.oneOf)}`) : within(branch);
  }
  const type = typeOf(value);
  const own = said.allOf?.flatMap(within) ?? [];
  if (said.anyOf !== undefined) {
    const branches = said.anyOf.map((branch) => resolved(root, branch));
    const fitting = branches.filter((branch) => fits(branch, type));
    const [one] = fitting;
    if (one === undefined) return fault(`has to be ${words(branches)}, not ${NAMES[type]}`);
    const results = fitting.map(within);
    if (results.every(({ length }) => length > 0)) {
      // Branches without a type only say which fields belong together.
      const together = fault('takes exactly one of its first fields');
      own.push(...(one.type === undefined ? together : results.flat()));
    }
  }
  if (!fits(said, type)) return fault(`has to be ${words([said])}, not ${NAMES[type]}`);
  if (typeof value === 'string') own.push(...textFaults(said, value).flatMap(fault));
  if (typeof value === 'number') own.push(...numberFaults(said, value).flatMap(fault));
  if (Array.isArray(value)) {
    own.push(...listFaults(said, value).flatMap(fault));
    const { items } = said;
    if (items !== undefined) {
      own.push(...value.flatMap((item, at) => schemaFaults(root, item, items, [...path, at])));
    }
  } else if (isObject(value)) own.push(...objectFaults(root, said, value, path));
  return own;
}

/** Fills in defaults as the service does. */
export function withDefaults(root: JsonSchema, value: unknown, schema: JsonSchema = root): unknown {
  const outer = resolved(root, schema);
  const given = value === undefined ? outer.default : value;
  const { items, properties } = shapeFor(root, outer, given);
  if (Array.isArray(given)) {
    return items === undefined ? given : given.map((item) => withDefaults(root, item, items));
  }
  if (!isObject(given) || properties === undefined) return given;
  const names = new Set([...Object.keys(properties), ...Object.keys(given)]);
  const entries = Array.from(names, (name): [string, unknown] => {
    const part = partOf(properties, name);
    const each = Object.hasOwn(given, name) ? given[name] : undefined;
    return [name, part === undefined ? each : withDefaults(root, each, part)];
  });
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined));
}

/** Leaves out default values of a complete value. */
export function withoutDefaults(root: JsonSchema, value: unknown, schema: JsonSchema = root): unknown {
  const { items, properties } = shapeFor(root, resolved(root, schema), value);
  if (Array.isArray(value)) {
    return items === undefined ? value : value.map((item) => withoutDefaults(root, item, items));
  }
  if (!isObject(value) || properties === undefined) return value;
  const entries = Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
    const part = partOf(properties, name);
    if (part === undefined) return [[name, each]];
    const isDefault = isDeepStrictEqual(each, withDefaults(root, undefined, part));
    return isDefault ? [] : [[name, withoutDefaults(root, each, part)]];
  });
  return Object.fromEntries(entries);
}

function partOf(properties: NonNullable<JsonSchema['properties']>, name: string) {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Returns the alternative that fits a value. */
function shapeFor(root: JsonSchema, schema: JsonSchema, value: unknown): JsonSchema {
  const said = resolved(root, schema);
  if (said.properties !== undefined) return said;
  const branch =
    said.oneOf !== undefined
      ? branchOf(said.oneOf, value)
      : [...(said.allOf ?? []), ...(said.anyOf ?? [])].find((each) => fits(resolved(root, each), typeOf(value)));
  return branch === undefined ? said : shapeFor(root, branch, value);
}

type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

const NAMES: Readonly<Record<string, string>> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  string: 'text',
  array: 'a list',
  object: 'fields',
};

function typeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object';
}

function isObject(value: unknown): value is JsonObject {
  return typeOf(value) === 'object';
}

function fits({ type }: JsonSchema, actual: JsonType): boolean {
  return type === undefined || type === actual || (type === 'integer' && actual === 'number');
}

function words(branches: readonly JsonSchema[]): string {
  return branches.map(({ type = 'null' }) => NAMES[type] ?? type).join(' or ');
}

function resolved(root: JsonSchema, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.replace('#/definitions/', '');
  return name === undefined ? schema : (root.definitions?.[name] ?? {});
}

function branchOf(branches: readonly JsonSchema[], value: unknown): JsonSchema | undefined {
  const type = isObject(value) ? value['type'] : undefined;
  return branches.find(({ properties }) => properties?.['type']?.const === type);
}

function typesOf(branches: readonly JsonSchema[]): string {
  return branches.map(({ properties }) => String(properties?.['type']?.const)).join(', ');
}

function textFaults(said: JsonSchema, value: string): string[] {
  const { pattern, format, minLength = 0, maxLength = Infinity, enum: known } = said;
  if (known !== undefined && !known.includes(value)) {
    const near = didYouMean(value, known.map(String));
    return [`"${value.slice(0, 100)}" is none of ${known.join(', ')}${near}`];
  }
  if (said.not?.enum?.includes(value) === true) return ['this name is built in'];
  if (value.length < minLength) return ['must not be empty'];
  if (value.length > maxLength) return [`is longer than ${maxLength} characters`];
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    return [format === undefined ? `does not have the form ${pattern}` : `is no ${format}`];
  }
  return [];
}

function numberFaults({ type, minimum = -Infinity, maximum = Infinity }: JsonSchema, value: number) {
  if (type === 'integer' && !Number.isInteger(value)) return ['has to be a whole number'];
  if (value < minimum) return [`is below ${minimum}`];
  return value > maximum ? [`is above ${maximum}`] : [];
}

function listFaults(said: JsonSchema, value: readonly unknown[]): string[] {
  if (value.length < (said.minItems ?? 0)) return ['must not be empty'];
  if (value.length > (said.maxItems ?? Infinity)) return [`has more than ${said.maxItems} items`];
  const distinct = new Set(value.map((item) => JSON.stringify(item)));
  return said.uniqueItems === true && distinct.size < value.length ? ['has the same item twice'] : [];
}

function objectFaults(root: JsonSchema, said: JsonSchema, value: JsonObject, path: FieldPath): SchemaFault[] {
  const { properties = {}, additionalProperties: others, required = [] } = said;
  const names = Object.keys(value);
  const faults: SchemaFault[] = [];
  if (names.length > (said.maxProperties ?? Infinity)) {
    faults.push({ path, message: `has more than ${said.maxProperties} fields` });
  }
  for (const name of names) {
    const inside = [...path, name];
    const part = partOf(properties, name);
    if (part !== undefined) faults.push(...schemaFaults(root, value[name], part, inside));
    else if (others === false) {
      const near = didYouMean(name, Object.keys(properties));
      const message = `unknown field "${name.slice(0, 100)}"${near}`;
      faults.push({ path: inside, ofName: true, message });
    } else {
      const { propertyNames: named } = said;
      const bad = named === undefined ? [] : textFaults(named, name);
      faults.push(...bad.map((message) => ({ path: inside, ofName: true as const, message })));
      if (typeof others === 'object') faults.push(...schemaFaults(root, value[name], others, inside));
    }
  }
  const missing = required.filter((name) => value[name] === undefined);
  return [...faults, ...missing.map((name) => ({ path, message: `the field "${name}" is missing` }))];
}

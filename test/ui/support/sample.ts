import fc from 'fast-check';
import { document, validatorOf, type Schema } from '#test/contract/agreement.ts';
import type { components } from '../../../ui/src/api/schema.d.ts';

type Shapes = components['schemas'];

/** Parts of a value that differ from its sample. A list replaces the whole list. */
export type Changes<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Changes<T[K]> }
    : T;

/**
 * Makes the smallest value that the schema of a named shape allows, with changes.
 * @throws when the schema refuses the result
 */
export function sample<Name extends keyof Shapes>(name: Name, changes: Changes<Shapes[Name]>): Shapes[Name] {
  const schema = { $ref: `#/components/schemas/${name}` };
  const value = merged(smallest(schema, true), changes);
  assertFits(schema, value, name);
  return value as Shapes[Name];
}

const checks = new Map<string, ReturnType<typeof validatorOf>>();

/** @throws when a schema of the API's document refuses the value */
export function assertFits(schema: Schema, value: unknown, name: string): void {
  const key = JSON.stringify(schema);
  const fits = checks.get(key) ?? validatorOf(schema);
  checks.set(key, fits);
  if (fits(value)) return;
  const faults = (fits.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new Error(`The API has no such ${name}: ${faults.join(', ')}`);
}

/**
 * Returns the smallest value that a schema allows: nulls, empty lists, required fields only.
 * @param isThere true if the value itself must not be null
 */
export function smallest(schema: Schema, isThere = false): unknown {
  if (schema.$ref !== undefined) return smallest(document.components.schemas[schema.$ref.split('/').at(-1)!]!, isThere);
  const { anyOf, oneOf = anyOf, allOf } = schema;
  if (schema.const !== undefined) return schema.const;
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((each) => smallest(each)));
  if (oneOf !== undefined) return !isThere && oneOf.some(({ type }) => type === 'null') ? null : smallest(oneOf[0]!);
  const type = Array.isArray(schema.type) ? 'null' : schema.type;
  if (schema.enum !== undefined) return schema.enum[0];
  switch (type) {
    case 'object': {
      const { required = [], properties = {} } = schema;
      return Object.fromEntries(required.map((field) => [field, smallest(properties[field] ?? {})]));
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => smallest(schema.items ?? {}));
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, 0);
    case 'boolean':
      return false;
    case 'string':
      return text(schema);
    default:
      return null;
  }
}

function text({ format, pattern, example, minLength = 0 }: Schema): string {
  if (typeof example === 'string') return example;
  if (format === 'date-time') return new Date().toISOString();
  if (format === 'date') return new Date().toISOString().slice(0, 10);
  if (format === 'uri') return 'https://example.com/';
  if (format === 'email') return 'ada@example.com';
  if (pattern !== undefined) return fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 1, seed: 1 })[0]!;
  return 'x'.repeat(minLength);
}

function merged(base: unknown, changes: unknown): unknown {
  if (!isObject(base) || !isObject(changes)) return changes === undefined ? base : changes;
  const parts = Object.entries(changes).map(([field, change]) => [field, merged(base[field], change)]);
  return { ...base, ...Object.fromEntries(parts) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { canonicalJson } from '#lib/json.ts';
import { fieldsOf, withoutChecks } from './lean.ts';
import { pascal } from './named-schemas.ts';
import { shareBases, untaken } from './shared-bases.ts';

/**
 * Writes once what the objects of a document have in common: fields that several objects share become an object that
 * they extend, and a field that recurs becomes a component.
 */
export function withSharedParts<D extends object>(document: D): D {
  const { components }: { components?: unknown } = document;
  const schemas = fieldsOf(fieldsOf(components)['schemas']);
  shareBases(schemas);
  shareFields(schemas);
  return withoutSingleUse(document, schemas);
}

/** A field of an object, with its schema in the form of a component: not null and without a default. */
interface Place {
  readonly name: string;
  readonly properties: Record<string, unknown>;
  readonly field: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly isNullable: boolean;
  /** The schema as text; `lean` is without the keywords that only check values. */
  readonly exact: string;
  readonly lean: string;
}

function placesIn(owner: string, schema: unknown): Place[] {
  const { properties, allOf } = fieldsOf(schema);
  const parts = [properties, ...(Array.isArray(allOf) ? allOf.map((part) => fieldsOf(part)['properties']) : [])];
  return parts.map(fieldsOf).flatMap((fields) =>
    Object.entries(fields).map(([field, written]) => {
      const { default: _, anyOf, ...rest } = fieldsOf(written);
      const choices = Array.isArray(anyOf) ? anyOf.map(fieldsOf) : [];
      const kept = choices.filter(({ type }) => type !== 'null');
      const value = { ...(kept.length > 1 ? { anyOf: kept } : kept[0]), ...rest };
      const [exact, lean] = [canonicalJson(value), canonicalJson(withoutChecks(value))];
      const isNullable = kept.length < choices.length;
      return { name: owner + pascal(field), properties: fields, field, value, isNullable, exact, lean };
    }),
  );
}

/** Bytes of a reference that replaces the schema of a field. */
const REFERENCE = 60;

function shareFields(schemas: Record<string, unknown>): void {
  const places = Object.entries(schemas).flatMap(([name, schema]) => placesIn(name, schema));
  const known = new Map(Object.entries(schemas).map(([name, value]) => [canonicalJson(withoutChecks(value)), name]));
  for (const [lean, alike] of Map.groupBy(places, (place) => place.lean)) {
    const checked = Map.groupBy(alike, ({ exact }) => exact);
    checked.delete(lean);
    const [form = lean, ...others] = checked.keys();
    const name = known.get(lean);
    // If only one form of the field has checks, the form without checks joins it. Several forms with checks stay apart.
    if (others.length > 0) for (const group of checked.values()) share(schemas, group, undefined);
    else {
      const isKnown = form === lean || [lean, form].includes(canonicalJson(schemas[name ?? '']));
      share(schemas, alike, isKnown ? name : undefined);
    }
  }
}

/** Replaces a field at its places by a reference to a component, if that is shorter. */
function share(schemas: Record<string, unknown>, places: readonly Place[], known: string | undefined): void {
  const [one] = places.toSorted((a, b) => b.exact.length - a.exact.length || a.name.length - b.name.length);
  const removed = places.length - (known === undefined ? 1 : 0);
  if (one === undefined || '$ref' in one.value || (one.exact.length - REFERENCE) * removed <= REFERENCE) return;
  const name = known ?? untaken(schemas, one.name);
  if (known === undefined || one.exact !== one.lean) schemas[name] = one.value;
  for (const { properties, field, isNullable } of places) {
    const { default: fallback } = fieldsOf(properties[field]);
    const ref = { $ref: `#/components/schemas/${name}` };
    const place = isNullable ? { anyOf: [ref, { type: 'null' }] } : ref;
    properties[field] = fallback === undefined ? place : { ...place, default: fallback };
  }
}

/** Writes a component in place of its only reference, unless it is an object. */
function withoutSingleUse<D extends object>(document: D, schemas: Record<string, unknown>): D {
  const uses = new Map<string, number>();
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref') uses.set(String(value), (uses.get(String(value)) ?? 0) + 1);
    return value;
  });
  const single = new Map(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const ref = `#/components/schemas/${name}`;
      const isObject = 'properties' in fieldsOf(schema) || 'allOf' in fieldsOf(schema);
      return uses.get(ref) === 1 && !isObject ? [[ref, fieldsOf(schema)] as const] : [];
    }),
  );
  const inPlace = (value: unknown): unknown => {
    const { $ref: ref, ...place } = fieldsOf(value);
    const schema = typeof ref === 'string' ? single.get(ref) : undefined;
    return schema === undefined ? value : { ...schema, ...place };
  };
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      Reflect.set(value, key, inPlace(inner));
      visit(Reflect.get(value, key));
    }
  };
  visit(document);
  return document;
}

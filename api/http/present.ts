import { z } from 'zod';
import { oncePerObject } from '#lib/coalesce.ts';

/**
 * Presents a row by the schema of a response: only the fields that the schema names, at every depth, with dates as RFC
 * 3339 text. A field that the schema does not name never leaves the service, in production as in tests. Records, unions
 * and other values that the schema describes as a whole are passed on unchanged.
 */
export function present<S extends z.ZodType>(schema: S, row: RowOf<z.input<S>>): z.input<S> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made key by key from the schema that names the type
  return presenterOf(schema)(row) as z.input<S>;
}

/** A row for a response. It may have dates where the response has texts, and further fields. */
type RowOf<T> = unknown extends T
  ? T
  : string extends T
    ? T | Date
    : T extends readonly (infer Item)[]
      ? readonly RowOf<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: RowOf<T[Key]> }
        : T;

type Presenter = (value: unknown) => unknown;

/** Returns the presenter of a schema. It is kept, because walking a schema takes longer than presenting a row. */
const presenterOf = oncePerObject(makePresenter);

function makePresenter(schema: z.core.$ZodType): Presenter {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const inner = presenterOf(schema.def.innerType);
    return (value) => (value === null || value === undefined ? value : inner(value));
  }
  if (schema instanceof z.ZodArray) {
    const item = presenterOf(schema.def.element);
    return (value) => (Array.isArray(value) ? value.map(item) : value);
  }
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.def.shape);
    const fields = shape.map(([name, field]) => [name, presenterOf(field)] as const);
    // Copying an object that has all keys is faster than adding the keys one by one, and its JSON is written faster.
    const required = shape.filter(([, field]) => field._zod.optout !== 'optional');
    const blank = Object.fromEntries(required.map(([name]) => [name, undefined]));
    return (value) => {
      if (typeof value !== 'object' || value === null) return value;
      const presented: Record<string, unknown> = { ...blank };
      for (const [name, field] of fields) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any object may be asked for any name
        const given = (value as Readonly<Record<string, unknown>>)[name];
        if (given !== undefined) presented[name] = field(given);
      }
      return presented;
    };
  }
  return (value) => (value instanceof Date ? value.toISOString() : value);
}

import { z } from 'zod';
import { ExactNumber } from '#lib/exact-json/parse.ts';
import { isOurs } from '../http/schemas.ts';

/** Keeps a foreign text for the fences, and returns what stands in its place. */
type Keep = (name: string, text: string) => string;

/**
 * Takes every text out of a response that is not the service's own, as the schema of the response says. A value of
 * which the schema does not name the fields, like the variables of a run, is taken out whole, as JSON.
 * @param name the field that it is of
 */
export function withoutForeign(value: unknown, schema: z.core.$ZodType, keep: Keep, name = 'data'): unknown {
  if (isWordless(value)) return value;
  const type = typeOf(schema, value);
  if (typeof value === 'string') return isOurs(type, value) || LEFT_OUT.test(value) ? value : keep(name, value);
  if (Array.isArray(value) && type instanceof z.ZodArray) {
    return value.map((each) => withoutForeign(each, type.element, keep, name));
  }
  if (!Array.isArray(value) && type instanceof z.ZodObject) {
    const shape = new Map<string, z.core.$ZodType>(Object.entries(type.shape));
    return Object.fromEntries(
      Object.entries(Object(value)).flatMap(([field, each]) => {
        const inner = shape.get(field);
        return inner === undefined ? [] : [[field, withoutForeign(each, inner, keep, field)]];
      }),
    );
  }
  return keep(name, JSON.stringify(value));
}

/** The words with which an answer says how much of a list it leaves out. */
export function leftOut(count: number): string {
  return `… (${count} more)`;
}

const LEFT_OUT = /^… \(\d{1,15} more\)$/;

/** Tells whether there is no text in a value: a number, a truth value, or nothing. */
function isWordless(value: unknown): boolean {
  if (value instanceof ExactNumber) return true;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return typeof value !== 'string' || value === '';
}

/** Returns the schema that describes a value, without what says that it may be missing, and of several its own. */
function typeOf(schema: z.core.$ZodType, value: unknown): z.core.$ZodType {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return typeOf(schema.def.innerType, value);
  }
  if (schema instanceof z.ZodUnion) {
    const own = schema.options.find((option) => z.safeParse(option, value).success);
    return own === undefined ? schema : typeOf(own, value);
  }
  return schema;
}

import { z } from 'zod';
import { ExactNumber } from '#lib/exact-json/parse.ts';
import { isOurs } from '../http/schemas.ts';

/** Puts a foreign text into the fences and returns its placeholder. */
type Keep = (name: string, text: string) => string;

/**
 * Moves every foreign text out of a response, by the schema of the response. A value without named fields, like the
 * variables of a run, is moved as a whole, as JSON.
 * @param name name of the field that has the value
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

/** Says how much of a list an answer leaves out. */
export function leftOut(count: number): string {
  return `… (${count} more)`;
}

const LEFT_OUT = /^… \(\d{1,15} more\)$/;

function isWordless(value: unknown): boolean {
  if (value instanceof ExactNumber) return true;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return typeof value !== 'string' || value === '';
}

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

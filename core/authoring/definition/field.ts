import { z } from 'zod';

/** Texts for people about a field or about a part of a field. */
export interface Said {
  readonly label: string;
  /** Help in a sentence or two. */
  readonly help?: string;
  /** Unit of a number, such as "steps" or "seconds". */
  readonly unit?: string;
  /** Text shown in the empty field. */
  readonly placeholder?: string;
  /** Label and help for each value of a choice. */
  readonly choices?: Readonly<Record<string, Pick<Said, 'label' | 'help'>>>;
}

/**
 * One field of a routine, declared once. Requests, responses, storage and the dashboard are made from this declaration.
 */
export interface Field<S extends z.ZodType = z.ZodType> extends Said {
  /** The field in the request that creates a routine, with its default. A field without a default is required. */
  readonly schema: S;
  /** Schema of the field in responses, if it differs by more than the default. */
  readonly shown?: z.ZodType;
  /** Texts for people about the fields inside this field. */
  readonly inside?: Readonly<Record<string, Said>>;
  /** The release that introduced the field. */
  readonly since: string;
  /** True when a patch changes the parts one by one, and not the field as a whole. */
  readonly merged?: true;
  /** True when the value is too long for lists of routines. */
  readonly long?: true;
  /** True when the value is stored as text, because jsonb would sort its keys. */
  readonly storedAsText?: true;
  /** Value to use when the stored value cannot be read, for a field without a default. */
  readonly blank?: unknown;
  /** Renders the field as a line of the briefing; undefined leaves the line out. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the type of the value is that of the schema beside it
  readonly told?: (value: any) => string | undefined;
}

/** A field that is stored in a column with its name, or in a column for each of its parts. */
export interface Setting extends Field {
  readonly column?: Column;
  readonly parts?: Readonly<Record<string, Column>>;
}

/** How a value is stored in a column. */
export interface Column {
  /** Name of the column, if it is not the name of the field. */
  readonly name?: string;
  /** SQL expression that reads the column, if its name is not enough. */
  readonly read?: string;
  readonly isJson?: true;
  /** Converts a JSON value other than null to its stored form, if the two differ. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the type of the value is that of the field
  readonly stored?: (value: any) => object;
  /** True for a list without a meaningful order, which is stored sorted. */
  readonly isSet?: true;
}

export type Fields = Readonly<Record<string, Field>>;

type Bare<S> = S extends z.ZodDefault<infer I> | z.ZodPrefault<infer I> ? I : S;
type Patched<F extends Field> = F extends { readonly merged: true }
  ? Bare<F['schema']> extends z.ZodObject<infer Shape>
    ? z.ZodObject<{ [K in keyof Shape]: z.ZodOptional<Bare<Shape[K]>> }, z.core.$strict>
    : never
  : Bare<F['schema']>;
type Shown<F extends Field> = F extends { readonly shown: infer S extends z.ZodType } ? S : Bare<F['schema']>;

export type Frozen<T> = T extends Date
  ? T
  : T extends readonly (infer I)[]
    ? readonly Frozen<I>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T;

export type ValuesOf<T extends Fields> = {
  readonly [K in keyof T]: Frozen<z.output<T[K]['schema']>>;
};

/** Returns the shape of the fields in the request that creates a routine. */
export function creationOf<T extends Fields>(fields: T): { [K in keyof T]: T[K]['schema'] } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which field is which
  return mapped(fields, ({ schema }) => schema) as { [K in keyof T]: T[K]['schema'] };
}

/** Returns the shape of the fields in a patch, without defaults. The caller makes the fields optional. */
export function patchOf<T extends Fields>(fields: T): { [K in keyof T]: Patched<T[K]> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return mapped(fields, ({ schema, merged }) => {
    const bare = bareOf(schema);
    if (merged === undefined || !(bare instanceof z.ZodObject)) return bare;
    return z.strictObject(mapped(bare.shape, bareOf)).partial();
  }) as { [K in keyof T]: Patched<T[K]> };
}

/** Returns the shape of the fields in responses. */
export function shownOf<T extends Fields>(fields: T): { [K in keyof T]: Shown<T[K]> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return mapped(fields, ({ schema, shown }) => shown ?? bareOf(schema)) as {
    [K in keyof T]: Shown<T[K]>;
  };
}

/** Returns the fields that are short enough for lists. */
export function shortFields<T extends Fields>(fields: T) {
  const short = Object.entries(fields).filter(([, { long }]) => long === undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries forgets which fields are left
  return Object.fromEntries(short) as unknown as {
    [K in keyof T as T[K] extends { readonly long: true } ? never : K]: T[K];
  };
}

function mapped<From>(
  shape: Readonly<Record<string, From>>,
  schemaOf: (from: From) => z.ZodType,
): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape).map(([name, from]) => [name, schemaOf(from)]));
}

function bareOf(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodDefault) && !(schema instanceof z.ZodPrefault)) return schema;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Zod says only that it is a schema of its core
  return schema.unwrap() as z.ZodType;
}

/**
 * Returns a schema of the same types without bounds, so that a release with narrower bounds can still read values.
 * @param keepDefaults false for a schema of responses, which have every field
 */
export function looseOf<S extends z.ZodType>(schema: S, keepDefaults = true): z.ZodType<z.output<S>, z.output<S>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same types, which the walk below cannot show
  return withoutBounds(schema, keepDefaults) as z.ZodType<z.output<S>, z.output<S>>;
}

function withoutBounds(schema: z.core.$ZodType, keepDefaults: boolean): z.ZodType {
  const inner = (part: z.core.$ZodType) => withoutBounds(part, keepDefaults);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const bare = inner(schema.unwrap());
    return keepDefaults ? bare.prefault(schema.def.defaultValue) : bare;
  }
  if (schema instanceof z.ZodNullable) return inner(schema.unwrap()).nullable();
  if (schema instanceof z.ZodOptional) return inner(schema.unwrap()).optional();
  if (schema instanceof z.ZodObject) return z.strictObject(mapped<z.ZodType>(schema.shape, inner));
  if (schema instanceof z.ZodArray) return z.array(inner(schema.element));
  if (schema instanceof z.ZodRecord) return z.record(z.string(), inner(schema.valueType));
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const [first, ...rest] = schema.options.map(inner);
    return z.union([first ?? z.never(), ...rest]);
  }
  if (schema instanceof z.ZodString) return z.string();
  if (schema instanceof z.ZodNumber) return schema.isInt ? z.number().int() : z.number();
  if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) return schema;
  if (schema instanceof z.ZodBoolean || schema instanceof z.ZodUnknown) return schema;
  throw new TypeError(`no field can be stored as ${schema._zod.def.type}`);
}

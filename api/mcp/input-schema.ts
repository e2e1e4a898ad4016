import { z } from 'zod';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/**
 * Returns a short JSON Schema of a request, for a model that reads twenty schemas at once: the structure, the words of
 * each choice, and the first sentence about each field. The call itself checks the parts that are left out (lengths,
 * patterns, examples, inner fields), and its error explains them.
 */
export function inputSchemaOf(schema: z.ZodType, { isChange = false } = {}): ObjectSchema {
  // If a schema transforms its input, its first part describes the request.
  const sent = schema instanceof z.ZodPipe ? schema.def.in : schema;
  const full: JsonSchema = z.toJSONSchema(sent, { io: 'input', unrepresentable: 'any' });
  const { properties, required } = shortened(full, {
    defs: asSchema(full['$defs']),
    depth: isChange ? DEEPEST - 1 : 0,
    isChange,
  });
  return {
    properties: asSchema(properties),
    required: Array.isArray(required) ? required.map(String) : [],
  };
}

export interface ObjectSchema {
  readonly properties: JsonSchema;
  readonly required: readonly string[];
}

interface Within {
  readonly defs: JsonSchema;
  /** Level within the schema. Fields have descriptions at the first level, and are shown down to the third. */
  readonly depth: number;
  /** True in the schema of a change, where null clears a field. Elsewhere a field is left out instead. */
  readonly isChange: boolean;
}

const DEEPEST = 3;

function shortened(schema: JsonSchema, within: Within): JsonSchema {
  const { $ref: ref, anyOf, oneOf, description, properties, items, ...rest } = schema;
  if (typeof ref === 'string') {
    const named = asSchema(within.defs[ref.slice('#/$defs/'.length)]);
    return shortened({ ...named, ...(description !== undefined && { description }) }, within);
  }
  const inner = { ...within, depth: within.depth + 1 };
  const short: Record<string, unknown> = {};
  for (const keyword of within.isChange ? ['type'] : KEPT) {
    if (rest[keyword] !== undefined) short[keyword] = rest[keyword];
  }
  if (typeof description === 'string' && within.depth === 1) short['description'] = gist(description);
  if (properties !== undefined && within.depth < DEEPEST) {
    // Leave out a field that accepts only an empty list: it is of no use to a caller.
    const fields = Object.entries(asSchema(properties)).filter(([, each]) => asSchema(each)['maxItems'] !== 0);
    short['properties'] = Object.fromEntries(fields.map(([name, each]) => [name, shortened(asSchema(each), inner)]));
  }
  // Describe the items of a list, because some clients refuse a list without a schema of its items.
  if (items !== undefined) short['items'] = shortened(asSchema(items), inner);
  const choices = anyOf ?? oneOf;
  if (!Array.isArray(choices) || properties !== undefined) return short;
  return {
    ...short,
    ...joined(
      choices.map((each) => shortened(asSchema(each), within)),
      within,
    ),
  };
}

const KEPT = ['type', 'enum', 'const', 'required', 'format'];

/** Joins choices into one schema: kinds of one object, and a value that may be null. */
function joined(choices: readonly JsonSchema[], { isChange }: Within): JsonSchema {
  const kinds = choices.map(({ properties }) => asSchema(asSchema(properties)['type'])['const']);
  if (kinds.every((kind) => typeof kind === 'string')) {
    const fields = Object.assign({}, ...choices.map(({ properties }) => properties));
    const properties = { ...asSchema(fields), type: { type: 'string', enum: kinds } };
    return { type: 'object', properties, required: ['type'] };
  }
  // Join choices that differ only in parts that are left out.
  const different = new Map(choices.map((choice) => [JSON.stringify(choice), choice]));
  const [first, second, ...others] = different.values();
  if (first !== undefined && second === undefined) return first;
  if (first === undefined || second === undefined || others.length > 0) return { anyOf: choices };
  if (second['type'] !== 'null') return { anyOf: choices };
  if (!isChange) return first;
  // `anyOf` is used, because some clients refuse the shorter list of types.
  const { description, ...value } = first;
  return { ...(description !== undefined && { description }), anyOf: [value, { type: 'null' }] };
}

const LONGEST = 110;

/** Returns the first sentence of a description, cut at a word if it is long. */
export function gist(text: string): string {
  const [sentence = ''] = text.split(/(?<=[.:]) (?=[A-Z`])/);
  if (sentence.length <= LONGEST) return sentence;
  return `${sentence.slice(0, sentence.lastIndexOf(' ', LONGEST))} …`;
}

function asSchema(value: unknown): JsonSchema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema holds schemas where it holds objects
  return typeof value === 'object' && value !== null ? (value as JsonSchema) : {};
}

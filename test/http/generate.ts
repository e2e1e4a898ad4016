import fc from 'fast-check';
import { z } from 'zod';
import type { Method } from '#api/route.ts';
import { routes } from '#api/routes.ts';

export interface GeneratedRequest {
  /** Id of the operation. */
  readonly operation: string;
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The index of the caller that sends it. */
  readonly caller: number;
  readonly body: string | undefined;
}

/** Names of path parameters and body fields → ids that exist, so that some requests get past the first look-up. */
export type KnownIds = Readonly<Record<string, readonly string[]>>;

/** Requests to real routes whose parameters, query, headers and body are right, nearly right, or wrong in any way. */
export function generatedRequest(known: KnownIds, callers: number): fc.Arbitrary<GeneratedRequest> {
  return fc.constantFrom(...routes).chain((route) => {
    const { spec } = route;
    const names = [...spec.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
    return fc
      .record({
        ids: fc.tuple(...names.map((name) => parameter(known[name] ?? []))),
        query: spec.query === undefined ? rarely(queryOf([])) : queryOf(fieldsOf(spec.query)),
        headers: headersOf(),
        caller: fc.nat(callers - 1),
        body: spec.method === 'GET' ? fc.constant(undefined) : bodyOf(spec.body, known),
      })
      .map(({ ids, query, headers, caller, body }) => {
        const values = [...ids];
        const path = spec.path.replaceAll(/:\w+/g, () => encodeURIComponent(values.shift() ?? ''));
        return {
          operation: spec.id,
          method: spec.method,
          path: `${path}${query}`,
          headers,
          caller,
          body,
        };
      });
  });
}

const NUMBERS = [0, -1, 1.5, 1e308, -0, 2 ** 31, 2 ** 53, 2 ** 63];

const TEXTS = [
  '',
  ' ',
  '0',
  'null',
  '\u0000',
  '\ud800',
  '\udfff',
  '\u202e',
  '__proto__',
  '{{x}}',
  '{{ now }}',
  '%00',
  '../..',
  "' or 1=1 --",
  '0 0 30 2 *',
  '* * * * * *',
  '@reboot',
  '@hourly',
  'H * * * *',
  'Mars/Olympus',
  'UTC',
  '2026-13-45T99:99:99Z',
  'http://127.0.0.1:1/',
  'data:text/plain,x',
  'https://[::ffff:169.254.169.254]/',
  'x'.repeat(3_000),
];

const SHAPES: readonly unknown[] = [
  [],
  {},
  // As text, so that it is a field of its own and not the prototype.
  JSON.parse('{"__proto__":null,"length":-1}'),
  { toString: 1 },
  [[[[]]]],
  Array.from({ length: 300 }, () => 1),
];

const NASTY: readonly unknown[] = [null, true, false, ...NUMBERS, ...TEXTS, ...SHAPES];

const nasty = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 40 }));

function parameter(ids: readonly string[]): fc.Arbitrary<string> {
  const right = ids.length === 0 ? fc.constant('unknown') : fc.constantFrom(...ids);
  return fc.oneof(
    { weight: 4, arbitrary: right },
    // An id that is well-formed and belongs to nothing.
    { weight: 1, arbitrary: right.map((id) => `${id.slice(0, -1)}0`) },
    { weight: 1, arbitrary: text.map((value) => value.toWellFormed()) },
  );
}

function queryOf(names: readonly string[]): fc.Arbitrary<string> {
  const name =
    names.length === 0 ? text : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, text);
  const value = fc.oneof(
    fc.constantFrom(
      '1',
      '200',
      '201',
      'active',
      'manual',
      'succeeded',
      '2026-01-01T00:00:00Z',
      '9999-12-31T23:59:59-23:59',
      '0000-01-01T00:00:00Z',
    ),
    text,
  );
  const encode = (raw: string) => encodeURIComponent(raw.toWellFormed());
  return fc
    .array(fc.tuple(name, value), { maxLength: 3 })
    .map((pairs) =>
      pairs.length === 0
        ? ''
        : `?${pairs.map(([key, item]) => `${encode(key)}=${encode(item)}`).join('&')}`,
    );
}

function headersOf(): fc.Arbitrary<Record<string, string>> {
  return rarely(
    fc.constantFrom<Record<string, string>>(
      { 'Idempotency-Key': 'same-for-all' },
      { 'Idempotency-Key': 'x'.repeat(300) },
      { 'If-Match': '"1"' },
      { 'If-Match': 'W/"x"' },
      { 'X-Project-Id': 'prj_00000000000000000000000000' },
      { 'X-Request-Id': '<bad>' },
      { Accept: 'text/html' },
      { Origin: 'https://evil.example' },
      { 'Content-Type': 'text/plain' },
      { 'X-Scheduler-Secret': 'wrong' },
      { Authorization: 'Bearer wrong' },
    ),
    {},
  );
}

function bodyOf(schema: z.ZodType | undefined, known: KnownIds): fc.Arbitrary<string | undefined> {
  const base = schema === undefined ? {} : exampleOf(schema, known);
  const mutated = fc
    .array(
      fc.record({ at: fc.nat(), how: fc.constantFrom('replace', 'remove', 'add'), value: nasty }),
      {
        maxLength: 3,
      },
    )
    .map((mutations) => {
      let value: unknown = structuredClone(base);
      // The same nasty value may be put in twice, so each place gets its own copy.
      for (const mutation of mutations) value = mutate(value, structuredClone(mutation));
      return JSON.stringify(value) ?? 'null';
    });
  return fc.oneof(
    { weight: 20, arbitrary: mutated },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: nasty.map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: text },
  );
}

interface Mutation {
  readonly at: number;
  readonly how: string;
  readonly value: unknown;
}

/** Changes one place of the value, chosen by number among all its places. */
function mutate(root: unknown, { at, how, value }: Mutation): unknown {
  const places: { owner: Record<string, unknown> | unknown[]; key: string }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const owner = node as Record<string, unknown>;
    for (const [key, item] of Object.entries(owner)) {
      places.push({ owner, key });
      visit(item);
    }
  };
  visit(root);
  const place = places[at % Math.max(places.length, 1)];
  if (place === undefined) return how === 'add' ? { unknown: value } : value;
  const owner = place.owner as Record<string, unknown>;
  if (how === 'remove') delete owner[place.key];
  else if (how === 'add' && !Array.isArray(owner)) owner[`${place.key}2`] = value;
  else if (how === 'add' && Array.isArray(owner)) owner.push(value);
  else owner[place.key] = value;
  return root;
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly minLength?: number;
}

/** A value that the schema most likely accepts, from its examples, defaults and bounds. */
function exampleOf(schema: z.ZodType, known: KnownIds): unknown {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  return valueOf(json as JsonSchema, known);
}

function valueOf(schema: JsonSchema, known: KnownIds, name?: string): unknown {
  const ids = name === undefined ? undefined : known[name];
  if (ids?.[0] !== undefined) return ids[0];
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [one] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (one !== undefined) return valueOf(one, known, name);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, item]) => [
          key,
          valueOf(item, known, key),
        ]),
      );
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return 'text'.padEnd(schema.minLength ?? 0, '.');
    default:
      return null;
  }
}

function fieldsOf(query: z.ZodType): string[] {
  return query instanceof z.ZodObject ? Object.keys(query.shape) : [];
}

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | ''>;
function rarely<T>(arbitrary: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T>;
function rarely<T>(arbitrary: fc.Arbitrary<T>, otherwise: T | '' = ''): fc.Arbitrary<T | ''> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });
}

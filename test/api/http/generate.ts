import fc from 'fast-check';
import { z } from 'zod';
import type { Method, RouteSpec } from '#api/route.ts';
import { routes } from '#api/routes.ts';

export interface GeneratedRequest {
  /** Id of the operation. */
  readonly operation: string;
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Index of the caller that sends the request. */
  readonly caller: number;
  readonly body: string | undefined;
}

/** Ids that exist, by the names of path parameters and body fields, so that some requests pass the first look-up. */
export type KnownIds = Readonly<Record<string, readonly string[]>>;

/** Requests to real routes: every third is valid, the others are nearly valid or invalid in any way. */
export function generatedRequest(known: KnownIds, callers: number): fc.Arbitrary<GeneratedRequest> {
  return fc
    .constantFrom(...routes)
    .chain(({ spec }) =>
      fc.oneof(
        { weight: 1, arbitrary: fc.nat().map((nth) => rightRequest(spec, known, nth)) },
        { weight: 2, arbitrary: mutatedRequest(spec, known, callers) },
      ),
    );
}

/** Index of the caller that is a person with a session; 0 is a key of the same project. */
const PERSON = 1;

/**
 * Makes the request that an operation most likely carries out: from the right caller, with the needed fields only.
 * @param nth number of the known id to use
 */
export function rightRequest(spec: RouteSpec, known: KnownIds, nth = 0): GeneratedRequest {
  const body = spec.body === undefined ? {} : exampleOf(spec.body, known).needed;
  const ids = idsIn(spec).map((name) => {
    const all = known[name] ?? ['unknown'];
    return all[nth % all.length] ?? 'unknown';
  });
  const query = spec.query === undefined ? {} : exampleOf(spec.query, known).needed;
  return {
    operation: spec.id,
    method: spec.method,
    path: `${pathWith(spec, ids)}${written(Object.entries(query).map(([name, value]) => [name, String(value)]))}`,
    headers: {},
    caller: spec.auth === 'key-or-session' ? 0 : PERSON,
    body: spec.method === 'GET' ? undefined : JSON.stringify(body),
  };
}

function mutatedRequest(spec: RouteSpec, known: KnownIds, callers: number): fc.Arbitrary<GeneratedRequest> {
  return fc
    .record({
      ids: fc.tuple(...idsIn(spec).map((name) => parameter(known[name] ?? []))),
      query: spec.query === undefined ? rarely(queryOf({})) : queryOf(exampleOf(spec.query, known)),
      headers: headersOf(),
      caller: fc.nat(callers - 1),
      body: spec.method === 'GET' ? fc.constant(undefined) : bodyOf(spec.body, known),
    })
    .map(({ ids, query, ...rest }) => ({
      operation: spec.id,
      method: spec.method,
      path: `${pathWith(spec, ids)}${query}`,
      ...rest,
    }));
}

function idsIn({ path }: RouteSpec): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
}

function pathWith({ path }: RouteSpec, ids: readonly string[]): string {
  const left = [...ids];
  return path.replaceAll(/:\w+/g, () => encodeURIComponent(left.shift() ?? ''));
}

function written(pairs: readonly (readonly [string, string])[]): string {
  const encode = (raw: string) => encodeURIComponent(raw.toWellFormed());
  const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return text === '' ? '' : `?${text}`;
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
  // This value is parsed from text, so that `__proto__` is a field and not the prototype.
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
    // A well-formed id that belongs to no resource.
    { weight: 1, arbitrary: right.map((id) => `${id.slice(0, -1)}0`) },
    { weight: 1, arbitrary: text.map((value) => value.toWellFormed()) },
  );
}

const NO_PAIRS: readonly (readonly [string, string])[] = [];

function queryOf({ all = {}, needed = {} }: Partial<Example>): fc.Arbitrary<string> {
  const names = Object.keys(all);
  const name = names.length === 0 ? text : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, text);
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
  const right = Object.entries(needed).map(([key, item]) => [key, String(item)] as const);
  return fc
    .tuple(fc.array(fc.tuple(name, value), { maxLength: 3 }), rarely(fc.constant(NO_PAIRS), right))
    .map(([others, needs]) => written([...needs, ...others]));
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
      { 'Content-Type': 'text/html' },
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'X-Scheduler-Secret': 'wrong' },
      { Authorization: 'Bearer wrong' },
    ),
    {},
  );
}

function bodyOf(schema: z.ZodType | undefined, known: KnownIds): fc.Arbitrary<string | undefined> {
  const { all, needed } = schema === undefined ? NOTHING : exampleOf(schema, known);
  const mutated = fc
    .record({
      besides: fc.subarray(Object.keys(all).filter((name) => !(name in needed))),
      mutations: fc.array(fc.record({ at: fc.nat(), how: fc.constantFrom('replace', 'remove', 'add'), value: nasty }), {
        maxLength: 3,
      }),
    })
    .map(({ besides, mutations }) => {
      const more = Object.fromEntries(besides.map((name) => [name, all[name]]));
      let value: unknown = structuredClone({ ...needed, ...more });
      // Two places may get the same value, so each place gets its own copy.
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

/** Changes one place of the value: the place with this number. */
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
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly minLength?: number;
}

/** Fields that a schema most likely accepts, made from its examples, defaults and bounds. */
interface Example {
  readonly all: Readonly<Record<string, unknown>>;
  /** The required fields alone. */
  readonly needed: Readonly<Record<string, unknown>>;
}

const NOTHING: Example = { all: {}, needed: {} };

function exampleOf(schema: z.ZodType, known: KnownIds): Example {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  }) as JsonSchema;
  const definitions = json.$defs ?? {};
  // A schema that accepts anything has no fields.
  const all = (valueOf(json, { known, definitions }) ?? {}) as Record<string, unknown>;
  const required = new Set(resolved(json, definitions).required);
  const needed = Object.fromEntries(Object.entries(all).filter(([name]) => required.has(name)));
  return { all, needed };
}

type Definitions = Readonly<Record<string, JsonSchema>>;

/** Follows a reference to a named schema. The whole schema may be such a reference. */
function resolved(schema: JsonSchema, definitions: Definitions): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (definitions[name] ?? {});
}

interface Given {
  readonly known: KnownIds;
  readonly definitions: Definitions;
}

function valueOf(given: JsonSchema, by: Given, name?: string): unknown {
  const { known, definitions } = by;
  const ids = name === undefined ? undefined : known[name];
  if (ids?.[0] !== undefined) return ids[0];
  if (given.example !== undefined) return given.example;
  const schema = resolved(given, definitions);
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [one] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (one !== undefined) return valueOf(one, by, name);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, item]) => [key, valueOf(item, by, key)]),
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

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | ''>;
function rarely<T>(arbitrary: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T>;
function rarely<T>(arbitrary: fc.Arbitrary<T>, otherwise: T | '' = ''): fc.Arbitrary<T | ''> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });
}

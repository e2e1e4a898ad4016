import { describe, expect, test } from 'vitest';
import { pascal, withNamedSchemas } from '#api/docs/named-schemas.ts';
import { buildOpenApi } from '#api/docs/openapi.ts';
import { routes } from '#api/routes.ts';

const OPTIONS = { publicUrl: 'https://api.acme.dev', productTag: 'ras' };
const ALL = asSeen(buildOpenApi(routes, OPTIONS));
const FOR_KEYS = asSeen(buildOpenApi(routes, { ...OPTIONS, for: 'keys' }));

describe.each([
  ['the whole document', ALL],
  ['the document for API keys', FOR_KEYS],
])('%s', (_, document) => {
  const schemas = schemasIn(document);

  test('has one type in each schema, and no constants', () => {
    expect(schemas.filter(({ schema }) => Array.isArray(schema.type) || 'const' in schema).map(placeOf)).toEqual([]);
  });

  test('names each object with fields, but for the envelopes of responses', () => {
    const inPlace = schemas.filter(({ schema, path }) => {
      const isNamed = path.length === 3 && path[0] === 'components';
      const isEnvelope = path.includes('responses') && path.at(-1) === 'schema';
      // The second part of a schema that extends another object.
      const isExtension = path.at(-2) === 'allOf';
      return isObject(schema.properties) && schema.type === 'object' && !isNamed && !isEnvelope && !isExtension;
    });
    expect(inPlace.map(placeOf)).toEqual([]);
  });

  test('has no component that may be null, and none that a library named', () => {
    const components = Object.entries(document.components.schemas);
    const isNullable = ([, { anyOf = [] }]: [string, Any]) => anyOf.some(({ type }: Any) => type === 'null');
    expect(components.filter(isNullable).map(([name]) => name)).toEqual([]);
    expect(components.map(([name]) => name).filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([]);
  });

  test('names no type twice, and none as a field of it, which clients would confuse', () => {
    const { parameters, schemas: named } = document.components;
    const types = [...Object.keys(parameters).map(pascal), ...Object.keys(named)];
    expect(types.filter((name, at) => types.indexOf(name) !== at)).toEqual([]);
    const own = Object.entries<Any>(FOR_KEYS.components.schemas).filter(([name, { properties = {}, allOf = [] }]) => {
      const fields = [properties, ...allOf.map((part: Any) => part.properties ?? {})].flatMap((each) => Object.keys(each));
      return fields.map(pascal).includes(name);
    });
    expect(own.map(([name]) => name)).toEqual([]);
  });

  test('refers only to what is there', () => {
    const missing = schemas.flatMap(({ schema: { $ref } }) => ($ref === undefined || at(document, $ref) ? [] : [$ref]));
    expect(missing).toEqual([]);
  });
});

test('the document for API keys has each operation that a key may call, and at most 2.7 kB for each', () => {
  const operations = Object.values<Any>(FOR_KEYS.paths).flatMap((path) => Object.values<Any>(path));
  const callable = routes.filter(({ spec }) => spec.auth === 'key-or-session');
  expect(new Set(operations.map(({ operationId }) => operationId))).toEqual(new Set(callable.map(({ spec }) => spec.id)));
  const scopes = new Map(callable.map(({ spec }) => [spec.id, spec.scope === undefined ? [] : [spec.scope]]));
  for (const { operationId, security } of operations) {
    expect(security, operationId).toEqual([{ apiKey: scopes.get(operationId) }]);
  }
  expect(Buffer.byteLength(JSON.stringify(FOR_KEYS)) / operations.length).toBeLessThanOrEqual(2_700);
  expect(FOR_KEYS.components.schemas).toMatchObject({ RunEvent: {}, RoutinePausedEvent: {} });
});

test('the document for API keys says the same of each field of each request and response as the whole document', () => {
  for (const [path, operations] of Object.entries<Any>(FOR_KEYS.paths)) {
    for (const [method, { requestBody, responses }] of Object.entries<Any>(operations)) {
      const whole = ALL.paths[path][method];
      const place = `${method} ${path}`;
      expect(fieldsIn(FOR_KEYS, requestBody), place).toEqual(fieldsIn(ALL, whole.requestBody));
      for (const status of Object.keys(responses).filter((each) => each.startsWith('2'))) {
        const { $ref: ref } = responses[status];
        const response: Any = ref === undefined ? responses[status] : at(FOR_KEYS, ref);
        const [lean, full] = [response.content, whole.responses[status].content];
        expect(lean === undefined, place).toBe(full === undefined);
        expect(fieldsIn(FOR_KEYS, lean), place).toEqual(fieldsIn(ALL, full));
      }
    }
  }
});

test('the document for API keys writes each response of several operations once, under a name of its own', () => {
  const { responses: shared, schemas } = FOR_KEYS.components;
  const operations = Object.values<Any>(FOR_KEYS.paths).flatMap((path) => Object.values<Any>(path));
  const successes = operations.flatMap(({ responses }) => Object.entries<Any>(responses).filter(([status]) => status !== 'default'));
  const written = successes.flatMap(([, { content }]) => (content === undefined ? [] : [JSON.stringify(content)]));
  expect(written.length - new Set(written).size).toBe(0);
  const names = successes.flatMap(([, { $ref }]) => ($ref === undefined ? [] : [$ref.split('/').at(-1)]));
  expect(names.length).toBeGreaterThan(30);
  for (const name of new Set(names)) {
    expect(shared[name], name).toMatchObject({ description: expect.any(String), content: expect.any(Object) });
    expect(schemas[name], name).toBeUndefined();
  }
});

test('no operation of the document for API keys repeats its summary before its errors, or lists the errors of ids', () => {
  for (const [path, operations] of Object.entries<Any>(FOR_KEYS.paths)) {
    for (const { operationId, summary, description = '' } of Object.values<Any>(operations)) {
      expect(description.startsWith(`${summary}.\n`), operationId).toBe(false);
      const errors = /Errors: .*/.exec(description)?.[0] ?? '';
      for (const [, kind] of path.matchAll(/\{(\w+)Id\}/g)) expect(errors, path).not.toContain(`\`${kind}_not_found\``);
    }
  }
  expect(FOR_KEYS.components.responses.Failure.description).toContain('`run_not_found` (404)');
});

test('the document for API keys says each long text once, and forbids unknown fields of requests as the whole document does', () => {
  const texts = schemasIn(FOR_KEYS.components.schemas).map(({ schema: { description } }) => description);
  const long = texts.filter((text) => typeof text === 'string' && text.length > 200);
  expect(long.length).toBeGreaterThan(30);
  // Checks of results have two types, for requests and for responses, so one text appears twice.
  expect(long.length - new Set(long).size).toBeLessThanOrEqual(1);
  const { CreateRoutine, PutRoutine, UpdateRoutine } = FOR_KEYS.components.schemas;
  for (const request of [CreateRoutine, PutRoutine]) expect(request.unevaluatedProperties).toBe(false);
  expect(UpdateRoutine.additionalProperties).toBe(false);
});

describe('a schema is rewritten', () => {
  const text = { type: 'string' };
  const object = (properties: object) => ({ type: 'object', properties });

  test('a component that may be null is null at the places that refer to it, through a second name too', () => {
    const { schemas } = rewritten({
      Gate: { anyOf: [object({ url: text }), { type: 'null' }], description: 'A look.', default: null },
      RoutineGate: { $ref: '#/components/schemas/Gate' },
      Routine: object({ gate: { $ref: '#/components/schemas/RoutineGate', description: 'Its look.' } }),
    });
    expect(schemas).toEqual({
      Gate: { ...object({ url: text }), description: 'A look.' },
      RoutineGate: { $ref: '#/components/schemas/Gate' },
      Routine: object({
        gate: { anyOf: [{ $ref: '#/components/schemas/RoutineGate' }, { type: 'null' }], description: 'Its look.' },
      }),
    });
  });

  test('objects in fields, lists, records and unions are named by their place, and equal ones share a name', () => {
    const point = object({ x: { type: 'integer' } });
    const { schemas } = rewritten({
      A: object({
        at: point,
        same: { ...point, description: 'Of this place.' },
        list: { type: 'array', items: object({ y: text }) },
        record: { type: 'object', additionalProperties: object({ z: text }) },
        either: { oneOf: [object({ kind: { const: 'far-off' } }), object({ kind: { const: 'near' } })] },
      }),
      AAt: text,
    });
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(schemas).toMatchObject({
      A: object({
        at: ref('AAt2'),
        same: { ...ref('AAt2'), description: 'Of this place.' },
        list: { type: 'array', items: ref('AListItem') },
        record: { type: 'object', additionalProperties: ref('ARecordValue') },
        either: { oneOf: [ref('AEitherFarOff'), ref('AEitherNear')] },
      }),
      AAt2: point,
      AEitherFarOff: object({ kind: { enum: ['far-off'] } }),
    });
  });

  test('several types are a choice, with the words beside it', () => {
    const { schemas } = rewritten({ A: object({ a: { type: ['string', 'null'], maxLength: 5, description: 'A text.' } }) });
    expect(schemas).toEqual({
      A: object({ a: { description: 'A text.', anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] } }),
    });
  });

  test('conditions of an object are no choice of types', () => {
    const conditions = [{ required: ['a'] }, { required: ['b'] }, { required: ['c'] }];
    const { schemas } = rewritten({ A: { ...object({ a: text }), anyOf: conditions } });
    expect(schemas).toEqual({
      A: { ...object({ a: text }), if: conditions[0], else: { anyOf: [conditions[1], conditions[2]] } },
    });
  });

  function rewritten(schemas: object): { schemas: object } {
    return asSeen(withNamedSchemas({ components: { schemas } })).components;
  }
});

// oxlint-disable-next-line typescript/no-explicit-any -- the document as any reader of it sees it
type Any = any;

interface Found {
  readonly path: readonly string[];
  readonly schema: Any;
}

/** Returns every value in a document that may be a schema, with its path. */
function schemasIn(value: Any, path: readonly string[] = []): Found[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value)
    .filter(([key]) => key !== 'example' && key !== 'examples')
    .flatMap(([key, each]) => schemasIn(each, [...path, key]));
  // Fields may have the names of keywords.
  return path.at(-1) === 'properties' || Array.isArray(value) ? inner : [{ path, schema: value }, ...inner];
}

/**
 * Lists each field of a schema with its path: whether it is required, its types, choices and default, and its
 * description. The description of an id may repeat the name of the field.
 */
function fieldsIn(document: Any, schema: Any, path = '', refs: readonly string[] = []): Record<string, Any> {
  if (!isObject(schema)) return {};
  const { $ref: ref, allOf = [], anyOf = [], oneOf = [], items, additionalProperties, properties = {} } = schema;
  if (refs.includes(ref)) return {};
  const seen = ref === undefined ? refs : [...refs, ref];
  const within = (inner: Any, at = path) => fieldsIn(document, inner, at, seen);
  const target = ref === undefined ? [] : [at(document, ref)];
  const found = [...target, ...allOf, ...anyOf, ...oneOf].map((part) => within(part));
  const content = schema.schema ?? schema.content?.['application/json'] ?? schema['application/json'];
  const nested = [within(content), within(items, `${path}[]`), within(additionalProperties, `${path}{}`)];
  const own = Object.entries<Any>(properties).flatMap(([name, field]) => [
    { [`${path}.${name}`]: wordsOf(document, field) },
    within(field, `${path}.${name}`),
  ]);
  const required = (schema.required ?? []).map?.((name: string) => ({ [`${path}.${name} is required`]: true })) ?? [];
  return Object.assign({}, ...found, ...nested, ...own, ...required);
}

/** Merges the description at a place with those of its component and of its only choice beside null. */
function wordsOf(document: Any, field: Any): Any {
  const { $ref: ref, anyOf = [], type, enum: values, default: fallback, description: words } = field;
  const kept = anyOf.filter((choice: Any) => choice.type !== 'null');
  const inner = ref !== undefined ? at(document, ref) : kept.length === 1 ? kept[0] : undefined;
  const below = inner === undefined ? {} : wordsOf(document, inner);
  const description = words ?? below.description;
  return {
    type: type ?? (field.allOf === undefined ? below.type : 'object'),
    values: values ?? below.values,
    fallback: fallback ?? below.fallback,
    isNullable: anyOf.length > kept.length || below.isNullable === true,
    description: /^Id of the \w+\.$/.test(description) ? undefined : description,
  };
}

function placeOf({ path }: Found): string {
  return path.join('/');
}

function at(document: Any, ref: string): unknown {
  return ref.split('/').slice(1).reduce((value: Any, key) => value?.[key], document);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function asSeen(document: object): Any {
  return JSON.parse(JSON.stringify(document));
}

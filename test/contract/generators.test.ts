import { describe, expect, test } from 'vitest';
import { withNamedSchemas } from '#api/docs/named-schemas.ts';
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
      // The second part of what extends another object.
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

  test('refers only to what is there', () => {
    const missing = schemas.flatMap(({ schema: { $ref } }) => ($ref === undefined || at(document, $ref) ? [] : [$ref]));
    expect(missing).toEqual([]);
  });
});

test('the document for API keys has each operation that a key may call, and at most 3.5 kB for each', () => {
  const operations = Object.values<Any>(FOR_KEYS.paths).flatMap((path) => Object.values<Any>(path));
  const callable = routes.filter(({ spec }) => spec.auth === 'key-or-session');
  expect(new Set(operations.map(({ operationId }) => operationId))).toEqual(new Set(callable.map(({ spec }) => spec.id)));
  const scopes = new Map(callable.map(({ spec }) => [spec.id, spec.scope === undefined ? [] : [spec.scope]]));
  for (const { operationId, security } of operations) {
    expect(security, operationId).toEqual([{ apiKey: scopes.get(operationId) }]);
  }
  expect(Buffer.byteLength(JSON.stringify(FOR_KEYS)) / operations.length).toBeLessThanOrEqual(3_500);
  expect(FOR_KEYS.components.schemas).toMatchObject({ RunEvent: {}, RoutinePausedEvent: {} });
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

/** Returns everything in a document that may be a schema, with its path. */
function schemasIn(value: Any, path: readonly string[] = []): Found[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value)
    .filter(([key]) => key !== 'example' && key !== 'examples')
    .flatMap(([key, each]) => schemasIn(each, [...path, key]));
  // The names of fields may be those of keywords.
  return path.at(-1) === 'properties' || Array.isArray(value) ? inner : [{ path, schema: value }, ...inner];
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

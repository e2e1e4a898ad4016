import { isJsonObject, type JsonObject } from '#lib/json.ts';

/**
 * Makes a simple value that a JSON Schema accepts: its const, default, example or first choice, else the smallest value
 * of its type. Patterns and conditions are ignored.
 */
export function exampleFor(schema: unknown): unknown {
  return valueFor(schema, schema, 0);
}

const MAX_DEPTH = 12;

function valueFor(schema: unknown, root: unknown, depth: number): unknown {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {};
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  const [example] = listOf(schema['examples']);
  if (example !== undefined) return example;
  const choices = listOf(schema['enum']);
  if (choices.length > 0) return choices[0];
  if (typeof schema['$ref'] === 'string') {
    return valueFor(resolve(schema['$ref'], root), root, depth + 1);
  }
  const [variant] = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  if (variant !== undefined) return valueFor(variant, root, depth + 1);
  const parts = [...listOf(schema['allOf']).filter(isJsonObject), schema];
  return byType(Object.fromEntries(parts.flatMap((part) => Object.entries(part))), root, depth);
}

function byType(schema: JsonObject, root: unknown, depth: number): unknown {
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (type === 'string') return stringFor(schema);
  if (type === 'number' || type === 'integer') return numberFor(schema);
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type === 'array') {
    const length = Number(schema['minItems'] ?? 1);
    return Array.from({ length }, () => valueFor(schema['items'] ?? {}, root, depth + 1));
  }
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const names = listOf(schema['required']).map(String);
  return Object.fromEntries(names.map((name) => [name, valueFor(properties[name] ?? {}, root, depth + 1)]));
}

const FORMATS: Record<string, string> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function stringFor(schema: JsonObject): string {
  const text = FORMATS[String(schema['format'])] ?? 'example';
  return text.padEnd(Number(schema['minLength'] ?? 0), '.').slice(0, Number(schema['maxLength'] ?? 500));
}

function numberFor(schema: JsonObject): number {
  const step = Number(schema['multipleOf'] ?? 1);
  const above = schema['exclusiveMinimum'];
  const least = typeof above === 'number' ? above + step : Number(schema['minimum'] ?? 1);
  const most = Number(schema['maximum'] ?? schema['exclusiveMaximum'] ?? Infinity);
  return Math.min(Math.ceil(least / step) * step, most);
}

function resolve(reference: string, root: unknown): unknown {
  return reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter(Boolean)
    .reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), root);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

import { isJsonObject, jsonObjectsIn, valueAt, type JsonObject } from '#lib/json.ts';

/** The most values of one sample, because a schema can describe endless or huge values. */
const MOST_VALUES = 300;
const DEEPEST = 10;
/** Depth to which optional members and items are sampled. */
const OPTIONAL_UNTIL = 3;
/** The most characters of a text, and of the JSON of a value that the schema states. */
const LONGEST = 4_000;

/**
 * Makes a value of the form that a JSON Schema describes: from its constants, words, examples and defaults if it has
 * some, else from plain values. The size is bounded for every schema. Keywords such as `pattern` are not obeyed, so the
 * caller checks the value.
 * @param withOptional false for required members only
 */
export function sampleOf(schema: JsonObject, withOptional: boolean): unknown {
  let left = MOST_VALUES;
  const deepestOptional = withOptional ? OPTIONAL_UNTIL : -1;

  function sample(of: unknown, depth: number): unknown {
    left -= 1;
    if (!isJsonObject(of) || left < 0 || depth > DEEPEST) return null;
    if (typeof of['$ref'] === 'string') return sample(resolved(schema, of['$ref']), depth + 1);
    const spelled = [of['const'], ...firstOf(of['enum']), ...firstOf(of['examples']), of['default']];
    const own = spelled.find((each) => each !== undefined && isShort(each));
    if (own !== undefined) return own;
    const parts = [of['anyOf'], of['oneOf']].flatMap((options) => jsonObjectsIn(options).slice(0, 1));
    const combined = [...parts, ...jsonObjectsIn(of['allOf'])].map((part) => sample(part, depth + 1));
    const type = typeOf(of);
    if (combined.length > 0 && (type === undefined || type === 'object')) {
      const members = combined.filter(isJsonObject);
      return members.length === 0
        ? combined[0]
        : members.reduce((all, each) => ({ ...all, ...each }), objectOf(of, depth));
    }
    switch (type) {
      case 'object':
        return objectOf(of, depth);
      case 'array':
        return arrayOf(of, depth);
      case 'string':
        return textOf(of);
      case 'integer':
      case 'number':
        return numberOf(of);
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  function objectOf({ properties, required }: JsonObject, depth: number): JsonObject {
    const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
    const declared = isJsonObject(properties) ? properties : {};
    const names = depth <= deepestOptional ? [...new Set([...needed, ...Object.keys(declared)])] : needed;
    const members = names.slice(0, Math.max(left, 0));
    return Object.fromEntries(
      members.map((name) => [name, sample(Object.hasOwn(declared, name) ? declared[name] : {}, depth + 1)]),
    );
  }

  function arrayOf({ items, prefixItems, minItems }: JsonObject, depth: number): unknown[] {
    const first = jsonObjectsIn(prefixItems);
    const least = Math.max(typeof minItems === 'number' ? minItems : 0, depth <= deepestOptional ? 1 : 0);
    const count = Math.min(Math.max(least, first.length), Math.max(left, 0));
    return Array.from({ length: count }, (_, at) => sample(first[at] ?? items ?? {}, depth + 1));
  }

  return sample(schema, 0);
}

function resolved(root: JsonObject, ref: string): unknown {
  if (!ref.startsWith('#') || (ref.length > 1 && ref[1] !== '/')) return undefined;
  try {
    return ref === '#' ? root : valueAt(root, decodeURIComponent(ref.slice(1)));
  } catch {
    return undefined;
  }
}

function firstOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list.slice(0, 1) : [];
}

function isShort(value: unknown): boolean {
  try {
    return (JSON.stringify(value) ?? '').length <= LONGEST;
  } catch {
    return false;
  }
}

function typeOf(of: JsonObject): unknown {
  const { type } = of;
  if (Array.isArray(type)) return type.find((each) => each !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if (isJsonObject(of['properties']) || Array.isArray(of['required'])) return 'object';
  return of['items'] === undefined && of['prefixItems'] === undefined ? undefined : 'array';
}

const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2000-01-01T00:00:00Z',
  date: '2000-01-01',
  time: '00:00:00Z',
  email: 'rehearsed@example.com',
  uri: 'https://example.com/rehearsed',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function textOf({ format, minLength, maxLength }: JsonObject): string {
  const text = (typeof format === 'string' && Object.hasOwn(TEXTS, format) && TEXTS[format]) || 'rehearsed';
  const longEnough = text.padEnd(typeof minLength === 'number' ? Math.min(minLength, LONGEST) : 0, '.');
  return typeof maxLength === 'number' ? longEnough.slice(0, Math.max(maxLength, 0)) : longEnough;
}

function numberOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject): number {
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum;
  const most = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : maximum;
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  if (typeof least === 'number') return Math.ceil(least / step) * step;
  return typeof most === 'number' && most < 0 ? Math.floor(most / step) * step : 0;
}

import { canonicalJson, isJsonObject } from '#lib/json.ts';

/** A value that differs between the arguments of two calls; `before` or `after` is missing where there is none. */
export interface Difference {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Lists what differs between two values, member by member. Lists of different lengths differ as a whole. */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (before === undefined) return after === undefined ? [] : [{ path, after }];
  if (after === undefined) return [{ path, before }];
  const [one, other] = [membersOf(before), membersOf(after)];
  if (one === undefined || other === undefined || Array.isArray(before) !== Array.isArray(after)) {
    return canonicalJson(before) === canonicalJson(after) ? [] : [{ path, before, after }];
  }
  if (Array.isArray(before) && one.size !== other.size) return [{ path, before, after }];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) =>
    differencesOf(one.get(name), other.get(name), `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  return Array.isArray(value) || isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

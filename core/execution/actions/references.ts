import { isJsonObject, valueAt, type JsonObject } from '#lib/json.ts';

/**
 * Matches a reference to the result of an earlier action of the run: `{{action_1.result./id}}` as a model writes it.
 */
const REFERENCE = /\{\{\s*(action_\d{1,9}|act_[0-9a-z]{26})\.result\.((?:\/[^{}]{0,500})?)\s*\}\}/g;

/** Matches the beginning of a reference, so that a malformed reference is refused instead of sent as plain text. */
const LOOKS_LIKE_ONE = /\{\{\s*(?:action_\d+|act_[0-9a-z]+)\b/;

/** Arguments of a held call, with the ids of the actions that they refer to. */
export interface Referring {
  readonly arguments: JsonObject;
  readonly refersTo: readonly string[];
}

/**
 * Replaces the names that a run uses for its actions by their ids. An unknown name or id is a fault.
 * @param held ids of the run's actions by their names for the model
 */
export function withIds(args: JsonObject, held: ReadonlyMap<string, string>): Referring | { readonly fault: string } {
  const ids = new Set(held.values());
  const refersTo = new Set<string>();
  let fault: string | undefined;
  const replaced = mapTexts(args, (text) => {
    const written = text.replaceAll(REFERENCE, (whole, name: string, pointer: string) => {
      const id = ids.has(name) ? name : held.get(name);
      if (id === undefined) {
        fault ??= `${name} is no action that was held earlier in this run`;
        return whole;
      }
      refersTo.add(id);
      return `{{${id}.result.${pointer.trim()}}}`;
    });
    if (LOOKS_LIKE_ONE.test(written.replaceAll(REFERENCE, ''))) {
      fault ??= 'a reference to an action has the form {{action_1.result./id}}';
    }
    return written;
  });
  if (fault !== undefined) return { fault };
  return { arguments: isJsonObject(replaced) ? replaced : args, refersTo: [...refersTo] };
}

/** The most characters of JSON that all references of one call insert. */
const MAX_FILLED_LENGTH = 1_000_000;

/**
 * Replaces references by their values. A text that is only a reference becomes the value itself.
 * @param results data of the actions' results, by the id of the action
 * @returns undefined when a result has no such value, or the values are too long together
 */
export function withValues(args: JsonObject, results: ReadonlyMap<string, unknown>): JsonObject | undefined {
  let isMissing = false;
  let length = 0;
  const valueOf = (id: string, pointer: string) => {
    const value = valueAt(results.get(id), pointer);
    length += JSON.stringify(value)?.length ?? 0;
    isMissing ||= value === undefined || length > MAX_FILLED_LENGTH;
    return isMissing ? undefined : value;
  };
  const filled = mapTexts(args, (text) => {
    const [match] = text.matchAll(REFERENCE);
    if (match?.[0] === text) return valueOf(match[1] ?? '', match[2] ?? '');
    return text.replaceAll(REFERENCE, (_, id: string, pointer: string) => {
      const value = valueOf(id, pointer);
      return typeof value === 'string' ? value : JSON.stringify(value);
    });
  });
  return isMissing || !isJsonObject(filled) ? undefined : filled;
}

export function hasReference(args: JsonObject): boolean {
  return LOOKS_LIKE_ONE.test(JSON.stringify(args));
}

function mapTexts(value: unknown, map: (text: string) => unknown): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, map)]));
}

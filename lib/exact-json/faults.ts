import { ExactNumber, findExact, isTooLong, mayBeExact, sendAsText, type JsonPath } from './parse.ts';

/**
 * Names what parsing a JSON text loses: one of two values with the same name, or digits that are not stored.
 * @param value the parsed text
 */
export function jsonFault(text: string, value: unknown): string | undefined {
  const doubled = doubledName(text, value);
  if (doubled !== undefined) return `${shown(doubled)}: ${NAMED_TWICE}`;
  const found = mayBeExact(text) ? findExact(value, isTooLong) : undefined;
  return found === undefined ? undefined : `${shown(found.path)}: ${sendAsText(found.number)}`;
}

export const NAMED_TWICE = 'send this name once';

/** Writes a path for a model, in the form that the errors of schema checks use. */
export function shown(path: JsonPath): string {
  return path.length === 0 ? 'the value' : path.join('.');
}

/**
 * Finds the first name that occurs twice in an object of a JSON text; a parser drops the first of its values.
 * @param value the parsed text
 */
export function doubledName(text: string, value: unknown): JsonPath | undefined {
  // A text within the JSON may look like a name, so there may be fewer members than matches.
  const names = text.match(/"\s*:/g)?.length ?? 0;
  return names === countMembers(value) ? undefined : findDoubled(text);
}

function countMembers(root: unknown): number {
  const waiting = [root];
  let members = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber) continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (!Array.isArray(value)) members += values.length;
    for (const each of values) waiting.push(each);
  }
  return members;
}

/** An object or a list whose end is not read yet. */
interface Open {
  /** Names of the members so far; undefined for a list. */
  readonly names: Set<string> | undefined;
  place: string | number;
  awaitsName: boolean;
}

const SIGNS = /["{}[\],]/g;

function findDoubled(text: string): JsonPath | undefined {
  const open: Open[] = [];
  const signs = new RegExp(SIGNS);
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    const [sign] = found;
    const top = open.at(-1);
    if (sign === '"') {
      const end = endOfText(text, found.index);
      if (top?.names !== undefined && top.awaitsName) {
        top.place = String(JSON.parse(text.slice(found.index, end + 1)));
        top.awaitsName = false;
        if (top.names.has(top.place)) return open.map(({ place }) => place);
        top.names.add(top.place);
      }
      signs.lastIndex = end + 1;
    } else if (sign === '{') open.push({ names: new Set(), place: '', awaitsName: true });
    else if (sign === '[') open.push({ names: undefined, place: 0, awaitsName: false });
    else if (sign !== ',') open.pop();
    else if (typeof top?.place === 'number') top.place += 1;
    else if (top !== undefined) top.awaitsName = true;
  }
  return undefined;
}

function endOfText(text: string, start: number): number {
  for (let end = start + 1; ; end += 1) {
    end = text.indexOf('"', end);
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

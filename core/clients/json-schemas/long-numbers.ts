import type { z } from 'zod';
import { ExactNumber, findExact, isFraction, parseExact, sendAsText } from '#lib/exact-json/parse.ts';
import { shown } from '#lib/exact-json/faults.ts';

/** Keywords that may judge a number differently from its nearest double. */
const LIMITS = /"(?:minimum|maximum|exclusiveMinimum|exclusiveMaximum|const|enum)":/;
/** Keywords that may judge a number differently from all doubles around it. */
const MULTIPLE = /"multipleOf":(?!1[,}])/;
const UNIQUE = /"uniqueItems":true/;

/**
 * Checks JSON with numbers that no double represents, against a schema that is computed with doubles: the verdict
 * counts when the doubles below, at and above each number agree.
 * @param check describes the fault of a value as JSON
 * @returns the fault; when the doubles disagree, the number that is to be sent as text
 */
export async function checkByNeighbours(
  json: string,
  schemaJson: string,
  check: (json: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const value = parseExact(json);
  const exact = findExact(value);
  if (exact === undefined) return check(json);
  const looksWhole = (number: ExactNumber) => isFraction(number) && Number.isInteger(Number(number.source));
  const unseen = schemaJson.includes('"integer"') ? findExact(value, looksWhole) : undefined;
  const isLimited = LIMITS.test(schemaJson);
  const isUnique = UNIQUE.test(schemaJson);
  const issues = [];
  for (const step of isLimited ? [-1, 0, 1] : [0]) {
    const isNearest = step === 0 && !isUnique;
    issues.push(await check(isNearest ? json : withDoubles(value, step, isUnique)));
  }
  const [first] = issues;
  const isDecided = issues.every((issue) => issue === first) && !MULTIPLE.test(schemaJson) && unseen === undefined;
  if (isDecided) return first;
  const { path, number } = unseen ?? exact;
  return `${shown(path)}: ${sendAsText(number)}`;
}

/** Refuses a number in a caller's schema that no double represents, because checks would use another number. */
export function refuseLongNumbers(schema: unknown, context: z.RefinementCtx): void {
  const found = findExact(schema);
  if (found === undefined) return;
  const message = 'a number of more than 15 digits cannot be checked exactly';
  context.addIssue({ code: 'custom', path: [...found.path], message });
}

/**
 * Writes JSON with a double for each number that no double represents.
 * @param isUnique true if each double must differ from all other numbers of the value
 */
function withDoubles(value: unknown, step: number, isUnique: boolean): string {
  const { exact, held } = numbersIn(value);
  const free = new FreeDoubles();
  if (isUnique) for (const double of held) free.take(double);
  const doubles = new Map<string, number>();
  for (const number of exact) {
    const key = number.toString();
    const double = neighbour(Number(number.source), step);
    if (!doubles.has(key)) doubles.set(key, isUnique ? free.take(double) : double);
  }
  return JSON.stringify(value, function written(this: Readonly<Record<string, unknown>>, name, each: unknown) {
    const given = this[name];
    if (!(given instanceof ExactNumber)) return each;
    const double = doubles.get(given.toString()) ?? 0;
    return Number.isFinite(double) ? double : JSON.rawJSON(double > 0 ? '1e999' : '-1e999');
  });
}

function numbersIn(root: unknown): { readonly exact: readonly ExactNumber[]; readonly held: ReadonlySet<number> } {
  const waiting = [root];
  const exact: ExactNumber[] = [];
  const held = new Set<number>();
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'number') held.add(value);
    else if (value instanceof ExactNumber) exact.push(value);
    else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) waiting.push(each);
  }
  return { exact, held };
}

/** Finds the next free double. Each step skips all doubles that earlier steps have passed. */
class FreeDoubles {
  private readonly next = new Map<number, number>();

  take(wanted: number): number {
    let found = wanted;
    for (let after = this.next.get(found); after !== undefined; after = this.next.get(found)) found = after;
    const after = neighbour(found, 1);
    for (let at: number | undefined = wanted; at !== undefined && at !== found;) {
      const following: number | undefined = this.next.get(at);
      this.next.set(at, after);
      at = following;
    }
    if (Number.isFinite(found)) this.next.set(found, after);
    return found;
  }
}

const bits = new DataView(new ArrayBuffer(8));

function neighbour(double: number, step: number): number {
  if (step === 0 || !Number.isFinite(double)) return double;
  if (double === 0) return step * Number.MIN_VALUE;
  bits.setFloat64(0, double);
  bits.setBigInt64(0, bits.getBigInt64(0) + BigInt(double > 0 ? step : -step));
  return bits.getFloat64(0);
}

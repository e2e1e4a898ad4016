import type { z } from 'zod';
import { ExactNumber, findExact, isFraction, parseExact, sendAsText } from '#lib/exact-json/parse.ts';
import { shown } from '#lib/exact-json/faults.ts';

/** A keyword whose verdict on a number that a double does not hold cannot be told from the doubles around it. */
const MULTIPLE = /"multipleOf":(?!1[,}])/;

/** Doubles from here on have no fraction, so the fraction of a longer number is not to be seen in them. */
const WITHOUT_FRACTION = 2 ** 52;

/**
 * Checks a value as JSON whose numbers a double may not hold, against a schema that is computed with doubles: it stands
 * where the doubles below, at and above each number are judged alike.
 * @param check says what is wrong with a value as JSON
 * @returns what is wrong; where the doubles disagree, which number is to be sent as text
 */
export async function checkByNeighbours(
  json: string,
  schemaJson: string,
  check: (json: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const value = parseExact(json);
  const exact = findExact(value);
  if (exact === undefined) return check(json);
  const unseen = findExact(
    value,
    (number) => isFraction(number) && Math.abs(Number(number.source)) >= WITHOUT_FRACTION,
  );
  const issues = [];
  for (const step of [-1, 0, 1]) issues.push(await check(withDoubles(json, step)));
  const [first] = issues;
  const isDecided = issues.every((issue) => issue === first) && !MULTIPLE.test(schemaJson) && unseen === undefined;
  if (isDecided) return first;
  const { path, number } = unseen ?? exact;
  return `${shown(path)}: ${sendAsText(number)}`;
}

/** Refuses a number in a caller's schema that no double holds: the checks against it would be made with another one. */
export function refuseLongNumbers(schema: unknown, context: z.RefinementCtx): void {
  const found = findExact(schema);
  if (found === undefined) return;
  const message = 'a number of more than 15 digits cannot be checked exactly';
  context.addIssue({ code: 'custom', path: [...found.path], message });
}

/**
 * Writes JSON with a double for each number that none holds. For `uniqueItems` it differs from all others of the value.
 */
function withDoubles(json: string, step: number): string {
  const doubles = new Map<string, number>();
  const taken = new Set<unknown>();
  JSON.parse(JSON.stringify(parseExact(json, () => null)), (_name, held: unknown) => void taken.add(held));
  const value = parseExact(json, (source) => {
    const key = new ExactNumber(source).toString();
    let double = doubles.get(key) ?? neighbour(Number(source), step);
    while (!doubles.has(key) && taken.has(double) && Number.isFinite(double)) double = neighbour(double, 1);
    doubles.set(key, double);
    taken.add(double);
    return Number.isFinite(double) ? double : JSON.rawJSON(double > 0 ? '1e999' : '-1e999');
  });
  return JSON.stringify(value);
}

/** Returns the next double below or above, or the double itself. */
function neighbour(double: number, step: number): number {
  if (step === 0 || !Number.isFinite(double)) return double;
  if (double === 0) return step * Number.MIN_VALUE;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, double);
  bits.setBigInt64(0, bits.getBigInt64(0) + BigInt(double > 0 ? step : -step));
  return bits.getFloat64(0);
}

/** A number that JavaScript would round, with the digits that the API sent. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  /** Returns the number with all of its digits, or its text in a browser without `JSON.rawJSON`. */
  toJSON(): unknown {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `rawJSON` is newer than the types of the language
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
    return rawJSON === undefined ? this.source : rawJSON(this.source);
  }
}

/** Returns true for a number of JSON, kept as a JavaScript number or as an `ExactNumber`. */
export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

/** Finds numbers that may have more than 15 digits, or an exponent. */
const LONG_NUMBER = /(?:^|[\s:,[])-?(?:\d[\d.]{15}|\d[\d.]{0,15}[eE])/;
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d(?:[\d.]{15,}|[\d.]*(?=[eE]))(?:[eE][+-]?\d+)?/g;

/** Parses JSON with an `ExactNumber` for each number that JavaScript would round. @throws {SyntaxError} */
export function parseExact(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  // Not every browser gives a reviver the text of a number, so such a number is first written as a marked text.
  const mark = crypto.randomUUID();
  const marked = text.replaceAll(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${mark}${token}"`,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

/** Writes JSON with the names in every object in alphabetical order. */
export function sortedJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    function sorted(this: Readonly<Record<string, unknown>>, name, each: unknown) {
      const isPlain = typeof each !== 'object' || each === null || Array.isArray(each);
      if (isPlain || this[name] instanceof ExactNumber) return each;
      return Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => a.localeCompare(b)));
    },
    indent,
  );
}

/**
 * A number of a response that JavaScript would round, with the digits that were sent. It is written as JSON as it was
 * read; where the platform has no `JSON.rawJSON`, as text.
 */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  toJSON(): unknown {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- newer than the types of the language
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
    return rawJSON === undefined ? this.source : rawJSON(this.source);
  }
}

/** Matches texts, and numbers of more than 15 digits or with an exponent. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d(?:[\d.]{15,}|[\d.]*(?=[eE]))(?:[eE][+-]?\d+)?/g;

/** Parses JSON with an `ExactNumber` for each number that JavaScript would round. @throws {SyntaxError} */
export function parseExact(text: string): unknown {
  // Not every platform gives a reviver the text of a number, so the number becomes a text that nothing else can be.
  const mark = globalThis.crypto.randomUUID();
  const marked = text.replaceAll(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${mark}${token}"`,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

/**
 * A number that JavaScript would round, with its original digits. It is written to JSON with those digits; on a
 * platform without `JSON.rawJSON`, as text.
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
  // Some platforms do not give a reviver the text of a number, so each number is first marked as a text that cannot
  // occur otherwise.
  const mark = globalThis.crypto.randomUUID();
  const marked = text.replaceAll(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${mark}${token}"`,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

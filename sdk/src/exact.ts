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
    const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
    return rawJSON === undefined ? this.source : rawJSON(this.source);
  }
}

/** Finds what may be a number of more than 15 digits, or with an exponent. */
const LONG_NUMBER = /(?:^|[\s:,[])-?(?:\d[\d.]{15}|\d[\d.]{0,15}[eE])/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/g;

/** Parses JSON with an `ExactNumber` for each number that JavaScript would round. @throws {SyntaxError} */
export function parseExact(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text) as unknown;
  // Not every platform gives a reviver the text of a number, so the number becomes a text that nothing else can be.
  const mark = globalThis.crypto.randomUUID();
  const marked = text.replaceAll(TOKEN, (token) => (isRounded(token) ? `"${mark}${token}"` : token));
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
  );
}

function isRounded(token: string): boolean {
  if (token.startsWith('"') || (token.length < 16 && !/e/i.test(token))) return false;
  return String(Number(token)) !== token;
}

import { CalculationError } from './calculation-error.ts';
import { quoted } from './decimal.ts';

export interface Token {
  readonly kind: 'number' | 'name' | 'symbol';
  readonly text: string;
}

export const MAX_EXPRESSION = 1_000;

const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/^(),%]))/y;

/** Cuts an expression into its tokens. @throws {CalculationError} naming the first sign that is none */
export function tokensOf(expression: string): Token[] {
  if (expression.length > MAX_EXPRESSION) {
    throw new CalculationError(`an expression has at most ${MAX_EXPRESSION} characters`);
  }
  const text = expression.replaceAll('×', '*').replaceAll('÷', '/').replaceAll('−', '-').trimEnd();
  const tokens: Token[] = [];
  const scan = new RegExp(TOKEN);
  while (scan.lastIndex < text.length) {
    const at = scan.lastIndex;
    const match = scan.exec(text);
    if (match === null) {
      throw new CalculationError(`cannot read the expression at ${quoted(text.slice(at).trim())}`);
    }
    const [, number, name, symbol] = match;
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else tokens.push({ kind: 'symbol', text: symbol ?? '' });
  }
  return tokens;
}

import { bounded, CalculationError, decimal, quoted, type Decimal } from './decimal.ts';
import { applyFunction, power, type Value } from './functions.ts';

const MAX_DEPTH = 40;

/**
 * Evaluates `+ - * / ^`, brackets, percent signs, names and functions in decimal arithmetic. A percent sign divides
 * by 100, so 25 % is 0.25; `-2^2` is -4, as in a textbook.
 * @throws {CalculationError} naming what could not be read or computed
 */
export function evaluateExpression(
  expression: string,
  variables: Readonly<Record<string, number | string>> = {},
): Value {
  const tokens = tokensOf(expression);
  if (tokens.length === 0) throw new CalculationError('the expression is empty');
  const parser = new Parser(tokens, variables);
  const value = parser.sum(0);
  parser.end();
  return value;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #variables: Readonly<Record<string, number | string>>;
  #at = 0;

  constructor(tokens: readonly Token[], variables: Readonly<Record<string, number | string>>) {
    this.#tokens = tokens;
    this.#variables = variables;
  }

  sum(depth: number): Value {
    if (depth > MAX_DEPTH) throw new CalculationError('the expression is nested too deeply');
    let left = this.#product(depth);
    for (;;) {
      const symbol = this.#takeOne('+', '-');
      if (symbol === undefined) return left;
      const right = this.#product(depth);
      const { value } = left;
      left = joined(left, right, symbol === '+' ? value.plus(right.value) : value.minus(right.value));
    }
  }

  end(): void {
    const token = this.#tokens[this.#at];
    if (token !== undefined) throw new CalculationError(`the expression has an unexpected ${quoted(token.text)}`);
  }

  #product(depth: number): Value {
    let left = this.#signed(depth);
    for (;;) {
      const symbol = this.#takeOne('*', '/');
      if (symbol === undefined) return left;
      const right = this.#signed(depth);
      if (symbol === '/' && right.value.eq(0)) throw new CalculationError('division by zero');
      const { value } = left;
      left = joined(left, right, symbol === '*' ? value.times(right.value) : value.div(right.value));
    }
  }

  #signed(depth: number): Value {
    if (depth > MAX_DEPTH) throw new CalculationError('the expression is nested too deeply');
    const sign = this.#takeOne('+', '-');
    if (sign === undefined) return this.#power(depth);
    const { value, exact } = this.#signed(depth + 1);
    return { value: sign === '-' ? value.neg() : value, exact };
  }

  #power(depth: number): Value {
    const base = this.#percent(depth);
    if (this.#takeOne('^') === undefined) return base;
    return power(base, this.#signed(depth + 1));
  }

  #percent(depth: number): Value {
    let { value, exact } = this.#operand(depth);
    while (this.#takeOne('%') !== undefined) value = value.div(100);
    return { value, exact };
  }

  #operand(depth: number): Value {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    if (token === undefined) throw new CalculationError('the expression ends too early');
    if (token.kind === 'number') return { value: decimal(token.text), exact: true };
    if (token.kind === 'name') return this.#named(token.text, depth);
    if (token.text !== '(') {
      throw new CalculationError(`the expression has an unexpected ${quoted(token.text)}`);
    }
    const inner = this.sum(depth + 1);
    this.#expect(')');
    return inner;
  }

  #named(name: string, depth: number): Value {
    if (this.#takeOne('(') !== undefined) {
      const args = [this.sum(depth + 1)];
      while (this.#takeOne(',') !== undefined) args.push(this.sum(depth + 1));
      this.#expect(')');
      return applyFunction(name, args);
    }
    const value = Object.hasOwn(this.#variables, name) ? this.#variables[name] : undefined;
    if (value === undefined) throw new CalculationError(`there is no variable ${quoted(name)}`);
    return { value: decimal(value, name), exact: true };
  }

  #takeOne(...symbols: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'symbol' || !symbols.includes(token.text)) return undefined;
    this.#at += 1;
    return token.text;
  }

  #expect(symbol: string): void {
    if (this.#takeOne(symbol) === undefined) throw new CalculationError(`${quoted(symbol)} is missing`);
  }
}

function joined(left: Value, right: Value, value: Decimal): Value {
  return { value: bounded(value), exact: left.exact && right.exact };
}

interface Token {
  readonly kind: 'number' | 'name' | 'symbol';
  readonly text: string;
}

export const MAX_EXPRESSION = 1_000;

const TOKEN = /\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/^(),%]))/y;

/**
 * Cuts an expression into its tokens.
 * @throws {CalculationError} that names the first invalid sign
 */
function tokensOf(expression: string): Token[] {
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

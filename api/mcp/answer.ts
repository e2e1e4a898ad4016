import { fence } from '#core/execution/prompt/index.ts';
import { isJsonObject } from '#lib/json.ts';
import { cut } from '#lib/text.ts';

/** The most that an answer of a tool may cost a model, in tokens as `tokensOf` counts them. */
const MAX_ANSWER_TOKENS = 20_000;

/** Leaves the rest of the budget to the words around the data. */
const MAX_DATA_TOKENS = MAX_ANSWER_TOKENS - 1_000;

export interface Answer {
  readonly data: unknown;
  /** Fields, at any depth, that a model, a tool or a page has written; the answer fences them. */
  readonly foreign: readonly string[];
  /** Follow the data, in words: where a list goes on, what to do next. */
  readonly notes: readonly string[];
}

/**
 * Writes an answer as text that a model reads: the data as JSON, then each foreign text in a fence of its own, then the
 * notes. An answer that would be too long has its longest texts cut first, then its lists, and says so.
 */
export function answerText({ data, foreign, notes }: Answer): string {
  const fitted = fit(data);
  const texts: string[] = [];
  const fenced = (name: string, value: unknown) => {
    if (!foreign.includes(name) || isEmpty(value)) return value;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    texts.push(fence(`The untrusted text ${texts.length + 1}, ${name},`, text));
    return `(untrusted text ${texts.length}, below)`;
  };
  const json = JSON.stringify(fitted.value, foreign.length === 0 ? undefined : fenced);
  return [json, ...texts, ...(fitted.isCut ? [CUT] : []), ...notes].join('\n\n');
}

const CUT = 'Parts are left out to keep this answer short; each place says how much.';

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/**
 * Estimates the tokens of a text from above: tokenizers need one for about four letters of a word, up to one for each
 * character of a key, a digest or a number and for each sign, and at times more than one for one of another script.
 */
export function tokensOf(text: string): number {
  const words = text.match(/\b[A-Za-z]{1,15}\b/g) ?? [];
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const blanks = text.match(/ /g)?.length ?? 0;
  const foreign = text.match(/[^\p{ASCII}]/gu)?.length ?? 0;
  const others = text.length - letters - blanks - foreign;
  return Math.ceil(letters / 4 + words.length / 2 + others + foreign * 1.25);
}

/** Lengths that texts and lists are cut to, one after the other, until an answer fits. */
const LIMITS = [
  { characters: 30_000, items: 200 },
  { characters: 12_000, items: 100 },
  { characters: 4_000, items: 50 },
  { characters: 1_000, items: 50 },
  { characters: 300, items: 20 },
  { characters: 60, items: 5 },
  { characters: 20, items: 1 },
] as const;

function fit(data: unknown): { readonly value: unknown; readonly isCut: boolean } {
  if (isShort(data)) return { value: data, isCut: false };
  for (const limits of LIMITS) {
    const value = shortened(data, limits);
    if (isShort(value)) return { value, isCut: true };
  }
  // A value of very many fields: its beginning says at least what it is.
  return { value: cut(JSON.stringify(data), 20_000), isCut: true };
}

function isShort(value: unknown): boolean {
  const json = JSON.stringify(value);
  // Counting takes longer than writing, and most answers are far below the limit.
  return json.length * 1.25 < MAX_DATA_TOKENS || tokensOf(json) <= MAX_DATA_TOKENS;
}

function shortened(value: unknown, limits: (typeof LIMITS)[number]): unknown {
  if (typeof value === 'string') {
    const left = value.length - limits.characters;
    return left > 0 ? `${cut(value, limits.characters)} … (${left} more characters)` : value;
  }
  if (Array.isArray(value)) {
    const shown = value.slice(0, limits.items).map((item) => shortened(item, limits));
    const left = value.length - shown.length;
    return left > 0 ? [...shown, `… (${left} more)`] : shown;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shortened(each, limits)]));
}

/** Takes the named fields of a value, or of each item of a list. */
export function viewed(data: unknown, view: readonly string[] | undefined): unknown {
  if (view === undefined) return data;
  if (Array.isArray(data)) return data.map((item) => viewed(item, view));
  const row = new Map(Object.entries(Object(data)));
  const shown = view.filter((name) => row.get(name) !== null && row.get(name) !== undefined);
  return Object.fromEntries(shown.map((name) => [name, row.get(name)]));
}

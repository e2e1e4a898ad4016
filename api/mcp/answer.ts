import type { z } from 'zod';
import { fence } from '#core/execution/prompt/index.ts';
import { isJsonObject } from '#lib/json.ts';
import { cut } from '#lib/text.ts';
import { leftOut, withoutForeign } from './foreign.ts';

/** The most that an answer of a tool may cost a model, in tokens as `tokensOf` counts them. */
const MAX_ANSWER_TOKENS = 20_000;

export interface Answer {
  readonly data: unknown;
  /** Describes the data. Texts that the schema does not mark as the service's own are fenced. */
  readonly schema: z.core.$ZodType;
  /** Fields that the service adds to the data. */
  readonly added?: Readonly<Record<string, string>>;
  /** Names of the resources in the data, by id. They are foreign text, in a fence of their own. */
  readonly names?: Readonly<Record<string, string>>;
  /** Set when programs get the data as structured content too. */
  readonly isStructured?: boolean;
  /** Notes after the data: how to continue a list, what to do next. */
  readonly notes: readonly string[];
}

/** An answer in the form that the client gets. */
export interface WrittenAnswer {
  readonly text: string;
  readonly structured?: Record<string, unknown>;
}

/**
 * Writes an answer for a model: the data as JSON, then its foreign texts in fences, then the notes. If the answer is
 * too long, the longest texts are cut first, then the lists, with a note. Texts are cut before they are counted, so the
 * work depends on the length of the answer and not of the data.
 */
export function writeAnswer(answer: Answer): WrittenAnswer {
  for (const limits of LIMITS) {
    const copy = copyOf(answer.data, limits);
    if (copy.isTooLong) continue;
    const all = written(answer, copy);
    if (tokensOf(all.text) + tokensOf(JSON.stringify(all.structured ?? '')) <= MAX_ANSWER_TOKENS) return all;
  }
  // Show only the beginning of the value, because it has very many fields.
  return written(answer, copyOf(answer.data, { ...LEAST, room: ROOM_OF_BEGINNING }));
}

/** Tells whether data is too long for one answer. */
export function isBeyondOneAnswer(data: unknown): boolean {
  return copyOf(data, { characters: Infinity, items: Infinity, room: MAX_CHARACTERS }).isTooLong;
}

const LEAST = { characters: 20, items: 1 };

/** Steps by which texts and lists are cut shorter until an answer fits. */
const LIMITS = [
  { characters: 30_000, items: 200 },
  { characters: 12_000, items: 100 },
  { characters: 4_000, items: 50 },
  { characters: 1_000, items: 50 },
  { characters: 300, items: 20 },
  { characters: 60, items: 5 },
  LEAST,
];

/** The most characters of an answer. A longer one exceeds the token limit in any language. */
const MAX_CHARACTERS = 80_000;
const ROOM_OF_BEGINNING = 8_000;
/** Characters that a text costs in addition to its own, for commas, the placeholder and a line in the fence. */
const AROUND_TEXT = 50;
const AROUND_VALUE = 5;

interface Limits {
  readonly characters: number;
  readonly items: number;
  /** Characters after which nothing more is copied. */
  readonly room?: number;
}

interface Copy {
  readonly value: unknown;
  readonly isCut: boolean;
  readonly isTooLong: boolean;
}

/** Copies data within the room, with texts and lists cut. */
function copyOf(data: unknown, { characters, items, room = MAX_CHARACTERS }: Limits): Copy {
  let left = room;
  let isCut = false;

  function copy(value: unknown): unknown {
    if (typeof value === 'string') return copyText(value);
    left -= AROUND_VALUE;
    if (Array.isArray(value)) return copyList(value);
    if (!isJsonObject(value)) return value;
    const fields: [string, unknown][] = [];
    for (const [name, each] of Object.entries(value)) {
      if (left < 0) break;
      left -= name.length;
      fields.push([name, copy(each)]);
    }
    return Object.fromEntries(fields);
  }

  function copyText(text: string): string {
    const more = text.length - characters;
    left -= AROUND_TEXT + Math.min(text.length, characters);
    if (more <= 0) return text;
    isCut = true;
    return `${cut(text, characters)} … (${more} more characters)`;
  }

  function copyList(list: readonly unknown[]): unknown[] {
    const shown: unknown[] = [];
    for (const item of list.slice(0, items)) {
      if (left < 0) break;
      shown.push(copy(item));
    }
    if (shown.length === list.length) return shown;
    isCut = true;
    return [...shown, leftOut(list.length - shown.length)];
  }

  const value = copy(data);
  return { value, isCut: isCut || left < 0, isTooLong: left < 0 };
}

/** Texts of one line up to this length share a fence. Each longer text has its own. */
const SHORT = 200;

function written(answer: Answer, copy: Copy): WrittenAnswer {
  const text = textOf(answer, copy);
  return answer.isStructured === true ? { text, structured: structuredOf(answer, copy) } : { text };
}

/**
 * Returns the data for programs. A field with a foreign text in it becomes one fence, because some clients show a model
 * the structured form in place of the text.
 */
function structuredOf({ schema }: Answer, { value }: Copy): Record<string, unknown> {
  const fields = Object.entries(Object(value)).map(([name, each]): Record<string, unknown> => {
    let isForeign = false;
    const own = withoutForeign({ [name]: each }, schema, () => {
      isForeign = true;
      return '';
    });
    const text = typeof each === 'string' ? each : JSON.stringify(each);
    return isForeign ? { [name]: fence(`The untrusted ${name}`, text) } : Object(own);
  });
  return Object.assign({}, ...fields);
}

function textOf({ schema, added = {}, names = {}, notes }: Answer, { value, isCut }: Copy): string {
  const kept = new Map<string, { readonly number: number; readonly name: string; readonly text: string }>();
  const keep = (name: string, text: string) => {
    const key = `${name} ${text}`;
    const { number } = kept.get(key) ?? { number: kept.size + 1 };
    kept.set(key, { number, name, text });
    return `(untrusted text ${number}, below)`;
  };
  const own = withoutForeign(value, schema, keep);
  if (Object.keys(names).length > 0) keep('names', JSON.stringify(names));
  const json = JSON.stringify(Object.keys(added).length === 0 ? own : { ...Object(own), ...added });
  const isShort = ({ text }: { readonly text: string }) => text.length <= SHORT && !text.includes('\n');
  const texts = [...kept.values()];
  const short = texts.filter(isShort);
  const list = short.map(({ number, name, text }) => `${number} ${name} ${JSON.stringify(text)}`).join('\n');
  return [
    json,
    ...(short.length === 0
      ? []
      : [fence('The list of short untrusted texts, each with its number and its field,', list)]),
    ...texts
      .filter((each) => !isShort(each))
      .map(({ number, name, text }) => fence(`The untrusted text ${number}, ${name},`, text)),
    ...(isCut ? [CUT] : []),
    ...notes,
  ].join('\n\n');
}

const CUT = 'Parts are left out to keep this answer short; each place says how much.';

/**
 * Estimates the tokens of a text, rather too many than too few. A tokenizer needs about one token for four letters of a
 * word; up to one for each sign and for each character of a key, digest or number; and sometimes several for one
 * character of another script.
 */
export function tokensOf(text: string): number {
  let tokens = 0;
  let run = 0;
  let isWord = true;
  const endRun = () => {
    tokens += isWord && run <= LONGEST_WORD && run > 0 ? run / 4 + 1 / 2 : run;
    run = 0;
    isWord = true;
  };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (IN_RUN[unit] === true) {
      run += 1;
      isWord &&= LETTER[unit] === true;
    } else {
      endRun();
      if (unit >= 0x80) tokens += 1.25;
      else if (unit !== SPACE) tokens += 1;
    }
  }
  endRun();
  return Math.ceil(tokens);
}

const LONGEST_WORD = 15;
const SPACE = 0x20;
const ASCII = Array.from({ length: 0x80 }, (_, unit) => String.fromCharCode(unit));
const LETTER = ASCII.map((character) => /[A-Za-z]/.test(character));
const IN_RUN = ASCII.map((character) => /\w/.test(character));

/** Takes the named fields of a value, or of each item of a list; `action.state` is a field of a field. */
export function viewed(data: unknown, view: readonly string[] | undefined): unknown {
  if (view === undefined) return data;
  if (Array.isArray(data)) return data.map((item) => viewed(item, view));
  const row = new Map(Object.entries(Object(data)));
  return Object.fromEntries(
    view.flatMap((path) => {
      const [name = '', inner] = path.split('.');
      const value = row.get(name) ?? null;
      return value === null ? [] : [[name, viewed(value, inner === undefined ? undefined : [inner])]];
    }),
  );
}

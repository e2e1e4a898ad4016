/** A number as a report writes it. */
export interface Figure {
  readonly text: string;
  readonly value: number;
  /** The least difference that its digits can show. */
  readonly precision: number;
}

/** Dates, times and week numbers: days are told from the calendar, not from the data. */
const CALENDAR = new RegExp(
  [
    String.raw`\d{4}-W\d{1,2}`,
    String.raw`\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+Z?)?`,
    String.raw`\d{1,2}:\d{2}(?::\d{2})?`,
    String.raw`\b\d{1,2}(?:\s?(?:-|–|to)\s?\d{1,2})? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?(?: \d{4})?`,
    String.raw`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}(?:, \d{4})?`,
    String.raw`\b(?:19|20)\d{2}\b`,
  ].join('|'),
  'g',
);
/** Matches a number. One that follows a letter, a slash or a hyphen is part of an id, a path or a version. */
const NUMBER = /(?<![\w./#-])[-−]?\d+(?:[,\u202f]\d{3})*(?:\.\d+)?(?![\w/]*[A-Za-z_])/g;
const LIST_MARK = /^\s*(?:#+\s*)?\d+[.)]\s/gm;
/** Counting words, not measurements. */
const MAX_COUNT = 12;

/** The figures of a text, leaving out dates, list numbers, ids and whole numbers up to twelve. */
export function figuresOf(text: string): Figure[] {
  const bare = text.replace(LIST_MARK, '\n').replace(CALENDAR, ' ');
  return Array.from(bare.matchAll(NUMBER), ([written]) => figure(written)).filter(
    ({ value }) => !(Number.isInteger(value) && Math.abs(value) <= MAX_COUNT),
  );
}

/** The figures of a report that neither stand in the input nor follow from it. */
export function unsupported(report: string, input: string, computed: readonly number[]): string[] {
  const known = [...numbersOf(input), ...computed].map(Math.abs);
  return [
    ...new Set(
      figuresOf(report)
        .filter((each) => !known.some((value) => supports(value, each)))
        .map(({ text }) => text),
    ),
  ];
}

/** All numbers of a text, for what a report may repeat. */
export function numbersOf(text: string): number[] {
  return Array.from(text.matchAll(/-?\d+(?:[,\u202f]\d{3})*(?:\.\d+)?/g), ([written]) =>
    Number(written.replaceAll(/[,\u202f]/g, '')),
  );
}

/** A figure may be rounded to its own digits, and may say a share as a percentage or the other way round. */
function supports(known: number, { value, precision }: Figure): boolean {
  return [known, known * 100, known / 100].some(
    (each) => Math.abs(each - Math.abs(value)) <= precision / 2 + 1e-9,
  );
}

function figure(written: string): Figure {
  const text = written.replace('−', '-').replaceAll(/[,\u202f]/g, '');
  const decimals = text.split('.')[1]?.length ?? 0;
  const zeros = decimals === 0 ? (/0*$/.exec(text)?.[0].length ?? 0) : 0;
  // 1,200 may stand for 1,234, but two digits have to be right.
  const rounded = Math.max(0, Math.min(zeros, text.replace('-', '').length - 2));
  return { text: written, value: Number(text), precision: 10 ** (rounded - decimals) };
}

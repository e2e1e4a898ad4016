import { plainLine } from './plain.ts';

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string | number | null | undefined;
  /** `right` for numbers. Other columns are aligned left. */
  readonly align?: 'right';
  /** True if values are never cut, such as ids that a user copies. */
  readonly whole?: true;
}

export interface TableStyle {
  /** Columns of the terminal; undefined for no limit. */
  readonly width: number | undefined;
  readonly bold: boolean;
}

const GAP = '  ';
/** The least width to which a column is cut. */
const NARROWEST = 8;

/** Renders rows under their titles, without empty columns. The widest columns are cut until the table fits. */
export function renderTable<T>(rows: readonly T[], columns: readonly Column<T>[], { width, bold }: TableStyle): string {
  const shown = columns.filter(({ value }) => rows.some((row) => (value(row) ?? '') !== ''));
  const titles = shown.map(({ title }) => title.toUpperCase());
  const cells = rows.map((row) => shown.map(({ value }) => plainLine(String(value(row) ?? '–'))));
  const widths = shown.map((_, index) => Math.max(...[titles, ...cells].map((line) => widthOf(line[index] ?? ''))));
  if (width !== undefined) shrink(widths, shown, width);
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) => fit(text, widths[index] ?? 0, shown[index]?.align))
      .join(GAP)
      .trimEnd();
  const head = line(titles);
  return [bold ? `\u001B[1m${head}\u001B[22m` : head, ...cells.map(line)].join('\n');
}

function shrink(widths: number[], columns: readonly Column<never>[], width: number): void {
  const gaps = GAP.length * (widths.length - 1);
  for (;;) {
    const used = widths.reduce((sum, each) => sum + each, gaps);
    const cuttable = widths.map((each, index) => (columns[index]?.whole === true ? 0 : each));
    const widest = Math.max(...cuttable);
    if (used <= width || widest <= NARROWEST) return;
    widths[cuttable.indexOf(widest)] = widest - 1;
  }
}

function fit(text: string, width: number, align: 'right' | undefined): string {
  const short = cut(text, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(short)));
  return align === 'right' ? padding + short : short + padding;
}

/** Cuts a text to a width in terminal columns, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let short = '';
  let taken = 1;
  for (const each of graphemes(text)) {
    taken += widthOf(each);
    if (taken > width) break;
    short += each;
  }
  return `${short}…`;
}

/** Characters that terminals draw two columns wide. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6])/u;

/** Estimates the terminal columns of a text. */
export function widthOf(text: string): number {
  // oxlint-disable-next-line no-control-regex -- most texts are plain
  if (/^[\u0020-\u007E]*$/.test(text)) return text.length;
  let width = 0;
  for (const each of graphemes(text)) width += WIDE.test(each) ? 2 : 1;
  return width;
}

const SEGMENTER = new Intl.Segmenter();

function* graphemes(text: string): Generator<string, void, undefined> {
  for (const { segment } of SEGMENTER.segment(text)) yield segment;
}

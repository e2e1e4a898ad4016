/** The tags that a formatted text may have. */
const TAGS = [
  'a',
  'blockquote',
  'br',
  'code',
  'del',
  'em',
  'h3',
  'h4',
  'h5',
  'h6',
  'hr',
  'input',
  'li',
  'ol',
  'p',
  'pre',
  'section',
  'span',
  'strong',
  'sup',
  'table',
  'tbody',
  'td',
  'th',
  'thead',
  'tr',
  'ul',
] as const;

export type DocumentTag = (typeof TAGS)[number];

const KNOWN: ReadonlyMap<string, DocumentTag> = new Map(TAGS.map((tag) => [tag, tag]));

/** Returns the tag if it is allowed, else `span`. */
export function tagOf(name: string): DocumentTag {
  return KNOWN.get(name) ?? 'span';
}

/** Returns an address that a reader may follow: of the web, of mail, or of a footnote in the same text. */
export function hrefOf(address: string): string | undefined {
  if (/^#note-[\w-]+$/.test(address)) return address;
  if (!/^(https?:\/\/|mailto:)/i.test(address) || !URL.canParse(address)) return undefined;
  return address;
}

/** The most characters of a formatted text. Longer texts are rare, and no one reads them as a page. */
const MAX_CHARACTERS = 600_000;
const MAX_MARKERS = 40;
const MAX_COLUMNS = 200;

/**
 * Returns why a text is not formatted; undefined if it can be. The parser's time grows with the square of what is
 * counted here, so each line is checked before parsing.
 */
export function refusalOf(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) {
    return `it is longer than ${MAX_CHARACTERS.toLocaleString('en')} characters`;
  }
  for (const line of text.split('\n')) {
    if (markersOf(line) > MAX_MARKERS) {
      return `it nests quotes or lists more than ${MAX_MARKERS} deep`;
    }
    if (barsOf(line) > MAX_COLUMNS) {
      return `it has a table of more than ${MAX_COLUMNS} columns`;
    }
  }
  return undefined;
}

const MARKER = /(?:>[ \t]?|(?:[*+-]|\d{1,9}[.)])[ \t]+|[ \t]+)/y;
/** Matches a horizontal rule such as `* * *`, whose signs would otherwise count as nested lists. */
const RULE = /^[ \t]*([-*_])(?:[ \t]*\1)+[ \t]*$/;

/** Counts the quotes and lists that a line opens, up to the limit. */
function markersOf(line: string): number {
  let markers = 0;
  MARKER.lastIndex = 0;
  for (let found = MARKER.exec(line); found !== null && markers <= MAX_MARKERS; found = MARKER.exec(line)) {
    if (found[0].trim() !== '') markers += 1;
  }
  return markers > MAX_MARKERS && RULE.test(line) ? 0 : markers;
}

function barsOf(line: string): number {
  let bars = 0;
  for (let at = line.indexOf('|'); at !== -1; at = line.indexOf('|', at + 1)) bars += 1;
  return bars;
}

/** Reads the text of a skill as sections, lines and sentences, for the rules of docs/skills-writing.md. */

export interface Line {
  readonly section: string;
  /** A leading label with its qualification, like "Fixes, at most 7"; empty without one. */
  readonly label: string;
  /** The line without its list mark and label. */
  readonly text: string;
}

export interface SkillText {
  readonly slug: string;
  readonly instructions: string;
  /** Titles of the sections, in order. */
  readonly titles: readonly string[];
  readonly sectionOf: (title: string) => string;
  /** Lines of prose: neither headings, tables nor fenced blocks. */
  readonly prose: readonly Line[];
  /** Cells of tables, except lines of dashes. */
  readonly cells: readonly Line[];
}

const OPENING = 'Opening';

export function readText(slug: string, instructions: string): SkillText {
  const sections = new Map<string, string[]>([[OPENING, []]]);
  let title = OPENING;
  for (const line of instructions.split('\n')) {
    // A heading of another level keeps its marks, so it equals no section's title.
    const heading = /^(?:### )?(#{0,6} ?.*)$/u.exec(line)?.[1] ?? '';
    if (!line.startsWith('#')) sections.get(title)?.push(line);
    else sections.set((title = heading), []);
  }
  const lines = [...sections].flatMap(([section, each]) =>
    unfenced(each).map((text) => ({ section, label: '', text })),
  );
  const isRow = ({ text }: Line) => text.trimStart().startsWith('|');
  return {
    slug,
    instructions,
    titles: [...sections.keys()].filter((each) => each !== OPENING),
    sectionOf: (each) => (sections.get(each) ?? []).join('\n').trim(),
    prose: lines
      .filter((line) => !isRow(line) && line.text.trim() !== '')
      .map(({ section, text }) => ({ section, ...labelled(text) })),
    cells: lines.filter(isRow).flatMap(({ section, text }) =>
      cellsOf(text.trim().replaceAll(/^\||\|$/gu, ''))
        .filter((cell) => !/^-*$/u.test(cell))
        .map((cell) => ({ section, label: '', text: cell })),
    ),
  };
}

/** Splits a row of a table, or of a sample, at its bars. */
export function cellsOf(row: string): string[] {
  return row.split('|').map((cell) => cell.trim());
}

/** Returns the rows of a section's table as cells, the header first. */
export function tableOf(section: string): string[][] {
  return section
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[-| ]*\|$/u.test(line))
    .map((line) => cellsOf(line.replaceAll(/^\||\|\s*$/gu, '')));
}

function unfenced(lines: readonly string[]): string[] {
  let inside = false;
  return lines.filter((line) => {
    const fence = line.trimStart().startsWith('```');
    if (fence) inside = !inside;
    return !fence && !inside;
  });
}

const LABEL = /^(?:\*\*[^*]+\*\*|`[^`|]+`)(?:, [^:.;]{1,40})?(?::\s+|\s+-\s+|\s+(?=\S)(?<=\.\*\*\s+))/u;

function labelled(line: string): Pick<Line, 'label' | 'text'> {
  const bare = line.replace(/^\s*(?:\d+\.|-)\s+/u, '');
  const label = LABEL.exec(bare)?.[0] ?? '';
  return { label: label.replaceAll(/[*`:]/gu, '').trim(), text: bare.slice(label.length) };
}

const ABBREVIATED = /\b(?:e\.g|i\.e|vs|approx|Art|Nos?)\.$/u;

/** Splits a line into sentences. A code span counts as one word, and no sentence ends within it. */
export function sentencesOf(line: string): string[] {
  const spans: string[] = [];
  const held = line.replaceAll(/`[^`]*`/gu, (span) => `⟦${spans.push(span) - 1}⟧`);
  const found: string[] = [];
  for (const part of held.split(/(?<=[.!?]["')\]*]*)\s+/u)) {
    const last = found.at(-1);
    if (last !== undefined && ABBREVIATED.test(last)) found[found.length - 1] = `${last} ${part}`;
    else if (part.trim() !== '') found.push(part.trim());
  }
  return found.map((sentence) => sentence.replaceAll(/⟦(\d+)⟧/gu, (_, nth: string) => spans[Number(nth)] ?? ''));
}

/** Counts the words of a sentence. If a colon opens a list, only the longest item counts. */
export function longestPart(sentence: string): number {
  const bare = sentence.replaceAll(/`[^`]*`/gu, 'code');
  const parts = /:.*;/su.test(bare) ? bare.split(';') : [bare];
  return Math.max(...parts.map((part) => part.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length));
}

/** Shortens a sentence for a message. */
export function shown(sentence: string): string {
  return sentence.length > 110 ? `${sentence.slice(0, 109)}…` : sentence;
}

import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';

/** Makes a heading of a category like "web-performance". */
export function categoryTitle(category: string): string {
  return capitalized(category.replaceAll('-', ' '));
}

/** Says how often a curated skill is best run. For a skill that is run on demand, says how often its small check is. */
export function bestRun({ cadence, check }: Pick<Shape<'SkillSummary'>, 'cadence' | 'check'>): string {
  if (cadence !== 'on-demand') return cadence ?? 'whenever needed';
  return check === null ? 'on demand' : `on demand, its check ${check}`;
}

/** Returns the sample result in the text of a curated skill, as Markdown; undefined if there is none. */
export function sampleOf(instructions: string): string | undefined {
  const [, rest] = instructions.split(/^### Sample page$/m);
  const [section = ''] = (rest ?? '').split(/^### /m);
  const [, fenced] = /^```\w*\n([\s\S]*?)^```$/m.exec(section) ?? [];
  return fenced?.trim().replaceAll(ROWS, asTable);
}

/** Matches two or more lines of cells. */
const ROWS = /^(?:.+ \| .+(?:\n|$)){2,}/gm;

/** Makes a table of Markdown. Its head is the first row, and each row gets as many cells as the longest. */
function asTable(rows: string): string {
  const [head = [], ...others] = rows
    .trim()
    .split('\n')
    .map((row) => row.split(' | '));
  const columns = Math.max(head.length, ...others.map((cells) => cells.length));
  const padded = [...head, ...Array<string>(columns - head.length).fill('')];
  const lines = [padded, Array<string>(columns).fill('---'), ...others];
  return `\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n`;
}

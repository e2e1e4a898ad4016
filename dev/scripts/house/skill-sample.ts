/** Checks the sample page of a skill against the columns and scales of its own Output. */
import { cellsOf, type SkillText } from './skill-text.ts';

const SENTENCE = 'All figures are invented: copy none of them.';
const FEWEST_LINES = 10;
const MOST_LINES = 30;

export function tableFaults({ sectionOf }: SkillText): string[] {
  const output = sectionOf('Output');
  const sample = new RegExp(`^${SENTENCE}\\n\\n\`\`\`text\\n([^\`]*)\\n\`\`\`$`, 'u').exec(
    sectionOf('Sample page'),
  )?.[1];
  if (sample === undefined) return [`Sample page: is not "${SENTENCE}" and a block of text`];
  const lines = sample.split('\n');
  const tables = [...output.matchAll(/`([^`|]+(?: \| [^`|]+)+)`/gu)].map(([, columns = '']) => columns);
  const scales = scalesOf(output);
  const columns = new Set(tables.flatMap(cellsOf));
  return [
    ...(lines.length < FEWEST_LINES || lines.length > MOST_LINES
      ? [`Sample page: has ${lines.length} lines, not ${FEWEST_LINES} to ${MOST_LINES}`]
      : []),
    ...(tables.length > 0 && !tables.some((table) => lines.includes(table))
      ? ['Sample page: shows none of the tables of Output, or with other columns']
      : []),
    ...[...scales.keys()]
      .filter((column) => !columns.has(column))
      .map((column) => `Output: the scale of \`${column}\` belongs to no column`),
    ...rowFaults(lines, new Set(tables), scales),
  ];
}

/** Reads the line "Scales: `State` is OK, Watch or Broken; `Effort` is 1, 2 or 4." */
function scalesOf(output: string): ReadonlyMap<string, readonly string[]> {
  const line = /^Scales: (.*)\.$/mu.exec(output)?.[1] ?? '';
  return new Map(
    line.split('; ').flatMap((part) => {
      const [, column, values] = /^`([^`]+)` is (.+)$/u.exec(part) ?? [];
      return column === undefined || values === undefined ? [] : [[column, values.split(/, | or /u)] as const];
    }),
  );
}

function rowFaults(
  lines: readonly string[],
  tables: ReadonlySet<string>,
  scales: ReadonlyMap<string, readonly string[]>,
): string[] {
  const faults: string[] = [];
  let columns: string[] | undefined;
  for (const line of lines) {
    if (!line.includes(' |')) columns = undefined;
    else if (tables.has(line)) columns = cellsOf(line);
    else if (columns === undefined) faults.push(`Sample page: a row of no table of Output: ${line}`);
    else faults.push(...cellFaults(columns, cellsOf(line), scales));
  }
  return faults;
}

function cellFaults(
  columns: readonly string[],
  cells: readonly string[],
  scales: ReadonlyMap<string, readonly string[]>,
): string[] {
  if (cells.length !== columns.length) {
    return [`Sample page: ${cells.length} cells for ${columns.length} columns: ${cells.join(' | ')}`];
  }
  return columns.flatMap((column, index) => {
    const scale = scales.get(column);
    const cell = cells[index] ?? '';
    return scale === undefined || scale.includes(cell)
      ? []
      : [`Sample page: "${cell}" is no value of \`${column}\`, which is ${scale.join(', ')}`];
  });
}

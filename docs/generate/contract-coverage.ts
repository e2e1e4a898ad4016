/** `npm run docs:coverage` writes docs/contract-coverage.md from the tests; a test keeps it current. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NOT_COVERED, SPEC_ROWS } from '#test/contract/spec-rows.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const COVERAGE_PAGE = path.join(ROOT, 'docs', 'contract-coverage.md');

export interface Proof {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly test: string;
}

/** The rows of the contract, each with the tests that claim to prove it, in the order of files and lines. */
export type Proofs = ReadonlyMap<string, readonly Proof[]>;

/** Reads every test file for the rows that its tests name with `proves`. */
export async function collectProofs(): Promise<Proofs> {
  const names = await readdir(path.join(ROOT, 'test'), { recursive: true });
  const files = names.filter((name) => name.endsWith('.test.ts')).toSorted();
  const proofs = new Map<string, Proof[]>();
  for (const name of files) {
    const file = `test/${name.replaceAll(path.sep, '/')}`;
    for (const { test, rows } of provingTests(await readFile(path.join(ROOT, file), 'utf8'))) {
      for (const row of rows) proofs.set(row, [...(proofs.get(row) ?? []), { file, test }]);
    }
  }
  return proofs;
}

/** Renders the page: a table for each section, and in it each row with its tests. */
export function renderCoverage(proofs: Proofs): string {
  const reasons: Readonly<Record<string, string>> = NOT_COVERED;
  const sections = Object.entries(SPEC_ROWS).map(([section, rows]) => {
    const lines = Object.entries(rows).map(([row, says]) => {
      const found = proofs.get(row) ?? [];
      const tests = found.map(({ file, test }) => `${cell(test)} ([${file}](../${file}))`);
      const proof = tests.length > 0 ? tests.join('<br>') : `**not covered**: ${reasons[row] ?? ''}`;
      return `| \`${cell(row)}\` | ${cell(says)} | ${proof} |`;
    });
    return [`## ${section}`, '', '| row | the contract says | proof |', '|---|---|---|', ...lines].join(
      '\n',
    );
  });
  const all = Object.values(SPEC_ROWS).flatMap((rows) => Object.keys(rows));
  const covered = all.filter((row) => proofs.has(row)).length;
  return [
    '# Contract coverage',
    '',
    `Every row of the contract's tables with the tests that prove it: ${covered} of ${all.length} rows are proven.`,
    'Made from the tests by `npm run docs:coverage`; a row without a test says why.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}

// Matches a test's name in any quotes, and `proves(…)` after it, alone or spread into the test's options.
const PROVING_TEST =
  /\(\s*(['"`])((?:\\.|(?!\1).)*)\1,\s*(?:\{(?:(?!proves)[\s\S]){0,80}?\.\.\.)?proves\(([\s\S]*?)\)/g;

function provingTests(source: string): { test: string; rows: string[] }[] {
  return [...source.matchAll(PROVING_TEST)].map(([, , name = '', list = '']) => ({
    // In the name of a test with many cases, dots replace the placeholder of a case's name.
    test: name.replaceAll(/\\(.)/g, '$1').replaceAll(/%[sj]/g, '…'),
    rows: [...list.matchAll(/'([^']*)'/g)].map(([, row = '']) => row),
  }));
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(COVERAGE_PAGE, renderCoverage(await collectProofs()));
}

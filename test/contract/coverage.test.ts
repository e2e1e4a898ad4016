import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { collectProofs, COVERAGE_PAGE, renderCoverage } from '../../docs/generate/contract-coverage.ts';
import { NOT_COVERED, SPEC_ROWS } from './spec-rows.ts';

const rows = Object.values(SPEC_ROWS).flatMap((section) => Object.keys(section));
const proofs = await collectProofs();

test('every row of the contract has a test, or is listed as not covered with a reason', () => {
  const silent = rows.filter((row) => !proofs.has(row) && !Object.hasOwn(NOT_COVERED, row));
  expect(silent).toEqual([]);
});

test('rows that are listed as not covered have no test', () => {
  expect(Object.keys(NOT_COVERED).filter((row) => proofs.has(row))).toEqual([]);
});

test('tests name only existing rows, and no row occurs twice', () => {
  expect([...proofs.keys()].filter((row) => !rows.includes(row))).toEqual([]);
  expect(rows.filter((row, index) => rows.indexOf(row) !== index)).toEqual([]);
});

test('every use of `proves` in the tests is found', async () => {
  const found = new Set([...proofs.values()].flat().map(({ file }) => file));
  expect(found.size).toBeGreaterThan(5);
  for (const file of found) {
    const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
    const uses = source.match(/\bproves\(/g) ?? [];
    const tests = new Set(
      [...proofs.values()].flat().filter((proof) => proof.file === file).map(({ test }) => test),
    );
    expect([file, tests.size]).toEqual([file, uses.length]);
  }
});

test('the page is current: `npm run docs:coverage` updates it', async () => {
  expect(await readFile(COVERAGE_PAGE, 'utf8')).toBe(renderCoverage(proofs));
});

/**
 * Entry of `npm run test:mutations`: makes each fault of the list, runs the tests that should find it, undoes it, and
 * prints a table. It fails for a fault that no test finds, and for a test that fails without a fault. Words select
 * faults: `npm run test:mutations -- claim`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { MUTATIONS, type Mutation } from './list.ts';

/** A fault may make a test hang, so tests get a time limit. */
const RUN = ['run', '--bail=1', '--testTimeout=90000'];

const words = process.argv.slice(2);
const chosen = MUTATIONS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
for (const file of new Set(chosen.map((each) => each.file))) {
  const changed = execFileSync('git', ['status', '--porcelain', '--', file]).toString();
  if (changed !== '') throw new Error(`${file} has changes of yours: commit them first.`);
}

const tests = [...new Set(chosen.flatMap((each) => each.tests))];
if (!isGreen(tests)) throw new Error('A test is red without a fault: mend it first.');

console.log('Faults that are made, and whether a test is red:');
for (const each of chosen) {
  const isRed = found(each);
  console.log(`  ${isRed ? 'red  ' : 'GREEN'}  ${each.name}  (${each.file})`);
  if (!isRed) process.exitCode = 1;
}

/**
 * Makes a fault, runs its tests one after the other until one fails, and undoes the fault.
 * @returns whether a test failed
 */
function found(mutation: Mutation): boolean {
  const { file, tests } = mutation;
  const before = readFileSync(file, 'utf8');
  const takeBack = () => writeFileSync(file, before);
  process.once('exit', takeBack);
  try {
    writeFileSync(file, faulty(before, mutation));
    return !tests.every((test) => isGreen([test]));
  } finally {
    takeBack();
    process.off('exit', takeBack);
  }
}

function isGreen(tests: readonly string[]): boolean {
  return spawnSync('vitest', [...RUN, ...tests], { stdio: 'ignore' }).status === 0;
}

/** Puts the fault into the text. @throws when the file does not have the text exactly once */
function faulty(text: string, { name, file, from, to }: Mutation): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`"${name}" does not fit ${file} any more.`);
  return parts.join(to);
}

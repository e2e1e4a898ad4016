/**
 * Entry of `npm run check:house`: checks the structure of the code, see CONTRIBUTING.md. known.json lists the present
 * faults. A new fault fails, and so does a listed fault that is mended, so that the list only gets shorter. `--write`
 * replaces the list by the faults found. `npm run measure` prints the figures.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { faultsOf, readHouse, type Faults } from './measure.ts';
import { faultsOfSkills, SKILLS } from './skills.ts';

const KNOWN = path.join(import.meta.dirname, 'known.json');
const { values: options } = parseArgs({
  options: { write: { type: 'boolean' } },
});

const house = readHouse(path.resolve(import.meta.dirname, '../../..'));
const found: Faults = {
  ...faultsOf(house),
  'skills that break docs/skills-writing.md': await skillsWithFaults(),
};
if (options.write === true) {
  writeFileSync(KNOWN, `${JSON.stringify(found, null, 2)}\n`);
} else {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the line above
  const known = JSON.parse(readFileSync(KNOWN, 'utf8')) as Faults;
  let faults = 0;
  for (const [rule, places] of Object.entries(found)) {
    const before = known[rule] ?? [];
    for (const place of places.filter((each) => !before.includes(each))) {
      console.error(`${rule}: ${place}`);
      faults += 1;
    }
    for (const place of before.filter((each) => !places.includes(each))) {
      console.error(`no longer so, take it out of dev/scripts/house/known.json: ${rule}: ${place}`);
      faults += 1;
    }
  }
  const open = Object.entries(found).map(([rule, { length }]) => `${length} ${rule}`);
  console.log(`House: ${open.join(', ')}.`);
  process.exitCode = faults === 0 ? 0 : 1;
}

async function skillsWithFaults(): Promise<string[]> {
  const faults = [...(await faultsOfSkills(SKILLS))].filter(([, { length }]) => length > 0);
  return faults.map(([slug]) => `skills/${slug}.md`).toSorted();
}

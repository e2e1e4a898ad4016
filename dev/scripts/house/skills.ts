/**
 * `node dev/scripts/house/skills.ts [file…]` checks skills against docs/skills-writing.md and prints each fault;
 * without a file it checks all skills. `--figures` prints the size of each instead. `npm run check:house` lists the
 * skills with faults.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { readRules } from '../../../bench/skills/gates.ts';
import { faultsOfSkill, numbersOutside } from './skill-rules.ts';
import { readText } from './skill-text.ts';

export const SKILLS = fileURLToPath(new URL('../../../skills/', import.meta.url));

/** Returns the faults of each skill of a folder, by slug. */
export async function faultsOfSkills(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const [{ skills }, rules] = await Promise.all([loadCatalogue(folder), readRules(folder)]);
  const gone = new Set(skills.flatMap(({ formerly }) => formerly));
  return new Map(
    skills.map(({ slug, instructions }) => [
      slug,
      faultsOfSkill(readText(slug, instructions), { rules: rules[slug] ?? [], gone }),
    ]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { figures: { type: 'boolean' } },
  });
  const folders = new Set(positionals.map((file) => path.dirname(path.resolve(file))));
  const wanted = new Set(positionals.map((file) => path.basename(file, '.md')));
  const isWanted = (slug: string) => wanted.size === 0 || wanted.has(slug);
  for (const folder of folders.size === 0 ? [SKILLS] : folders) {
    if (values.figures === true) await printFigures(folder, isWanted);
    else await printFaults(folder, isWanted);
  }
}

async function printFaults(folder: string, isWanted: (slug: string) => boolean): Promise<void> {
  const faults = [...(await faultsOfSkills(folder))].filter(([slug]) => isWanted(slug));
  const lines = faults.flatMap(([slug, each]) => each.map((fault) => `skills/${slug}.md: ${fault}`));
  for (const line of lines) console.error(line);
  console.log(`Skills: ${lines.length} faults.`);
  if (lines.length > 0) process.exitCode = 1;
}

async function printFigures(folder: string, isWanted: (slug: string) => boolean): Promise<void> {
  const { skills } = await loadCatalogue(folder);
  console.log('skill | characters | numbers outside tables');
  for (const { slug, instructions } of skills.filter((skill) => isWanted(skill.slug))) {
    const numbers = numbersOutside(readText(slug, instructions));
    console.log(`${slug} | ${instructions.length} | ${numbers}`);
  }
}

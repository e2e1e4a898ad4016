/**
 * `node dev/house/skills.ts [file…]` holds skills to docs/skills-writing.md and prints each fault; without a file, all
 * skills. `npm run check:house` asks for the skills that have faults.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadCatalogue } from '#core/skills/index.ts';
import { readRules } from '../../bench/skills/gates.ts';
import { faultsOfSkill } from './skill-rules.ts';
import { readText } from './skill-text.ts';

export const SKILLS = fileURLToPath(new URL('../../skills/', import.meta.url));

/** Returns the faults of each skill of a folder, by slug. */
export async function faultsOfSkills(
  folder: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
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
  const files = process.argv.slice(2);
  const folders = new Set(
    files.length === 0 ? [SKILLS] : files.map((file) => path.dirname(path.resolve(file))),
  );
  const wanted = files.map((file) => path.basename(file, '.md'));
  let count = 0;
  for (const folder of folders) {
    for (const [slug, faults] of await faultsOfSkills(folder)) {
      if (wanted.length > 0 && !wanted.includes(slug)) continue;
      for (const fault of faults) console.error(`skills/${slug}.md: ${fault}`);
      count += faults.length;
    }
  }
  console.log(`Skills: ${count} faults.`);
  process.exitCode = count === 0 ? 0 : 1;
}

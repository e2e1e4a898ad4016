import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import type { z } from 'zod';
import { frontMatter, SLUG } from './front-matter.ts';

export interface CuratedSkill extends Readonly<z.output<typeof frontMatter>> {
  readonly slug: string;
  readonly instructions: string;
}

export interface SkillCatalogue {
  /** All curated skills, by category and slug. */
  readonly skills: readonly CuratedSkill[];
  /** Finds a skill by its slug, or by the slug of a skill that was folded into it. */
  readonly find: (slug: string) => CuratedSkill | undefined;
}

export const MIN_INSTRUCTIONS = 20;
export const MAX_INSTRUCTIONS = 24_000;

const FOLDER = fileURLToPath(new URL('../../../skills/', import.meta.url));

/** Reads and checks the catalogue once, at start. @throws an error that names the first broken file and its fault */
export async function loadCatalogue(folder: string = FOLDER): Promise<SkillCatalogue> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md'));
  const skills = await Promise.all(
    files.map(async (file) => readSkill(file, await readFile(`${folder}/${file}`, 'utf8'))),
  );
  skills.sort((a, b) => a.category.localeCompare(b.category) || a.slug.localeCompare(b.slug));
  const names = new Map<string, string>();
  for (const { name, slug } of skills) {
    const twin = names.get(name.toLowerCase());
    if (twin !== undefined) throw new Error(`skills/${slug}.md: has the same name as ${twin}.md: ${name}`);
    names.set(name.toLowerCase(), slug);
  }
  const bySlug = new Map(skills.map((skill) => [skill.slug, skill]));
  for (const skill of skills) {
    for (const former of skill.formerly) {
      const taken = bySlug.get(former)?.slug;
      if (taken !== undefined) {
        throw new Error(`skills/${skill.slug}.md: formerly has ${former}, the slug of ${taken}.md`);
      }
      bySlug.set(former, skill);
    }
  }
  return { skills, find: (slug) => bySlug.get(slug) };
}

/** Reads one skill from its file's text. @throws an error that names the file and the fault */
export function readSkill(file: string, text: string): CuratedSkill {
  const fault = (message: string) => new Error(`skills/${file}: ${message}`);
  const slug = file.replace(/\.md$/, '');
  if (!SLUG.test(slug)) throw fault('the file name must be kebab-case');
  const parts = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(text);
  const [, head, body] = parts ?? [];
  if (head === undefined || body === undefined) throw fault('no front matter between --- lines');
  let yaml: unknown;
  try {
    yaml = parseYaml(head);
  } catch (error) {
    throw fault(`front matter is not YAML: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  const parsed = frontMatter.safeParse(yaml);
  if (!parsed.success) throw fault(parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; '));
  const instructions = body.trim();
  if (instructions.length < MIN_INSTRUCTIONS || instructions.length > MAX_INSTRUCTIONS) {
    throw fault(`instructions are ${instructions.length} characters, not ${MIN_INSTRUCTIONS} to ${MAX_INSTRUCTIONS}`);
  }
  return { slug, ...parsed.data, instructions };
}

import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';

export interface CuratedSkill {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly version: string;
  readonly sources: readonly SkillSource[];
  readonly instructions: string;
}

/** An authority and what it settles in the text. */
export type SkillSource = z.output<typeof source>;

export interface SkillCatalogue {
  /** All curated skills, by category and slug. */
  readonly skills: readonly CuratedSkill[];
  find(slug: string): CuratedSkill | undefined;
}

export const MIN_INSTRUCTIONS = 20;
export const MAX_INSTRUCTIONS = 24_000;

const FOLDER = fileURLToPath(new URL('../../skills/', import.meta.url));

const source = z.strictObject({
  name: z.string().min(1),
  domain: z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'a plain domain'),
  settles: z.string().min(1),
});

const frontMatter = z.strictObject({
  name: z.string().min(1).max(80),
  description: z.string().min(20).max(300),
  category: z.string().regex(/^[a-z]+(-[a-z]+)*$/, 'kebab-case'),
  version: z.string().regex(/^\d+\.\d+\.\d+$/, 'a version like 1.0.0'),
  sources: z.array(source).min(1),
});

/**
 * Reads and checks the catalogue, once, at start.
 * @throws naming the first broken file and its fault, so that a process never starts on half a catalogue
 */
export async function loadCatalogue(folder: string = FOLDER): Promise<SkillCatalogue> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md'));
  const skills = await Promise.all(
    files.map(async (file) => readSkill(file, await readFile(`${folder}/${file}`, 'utf8'))),
  );
  skills.sort((a, b) => a.category.localeCompare(b.category) || a.slug.localeCompare(b.slug));
  const names = new Map<string, string>();
  for (const { name, slug } of skills) {
    const twin = names.get(name.toLowerCase());
    if (twin !== undefined)
      throw new Error(`skills/${slug}.md: the name of ${twin}.md again: ${name}`);
    names.set(name.toLowerCase(), slug);
  }
  const bySlug = new Map(skills.map((skill) => [skill.slug, skill]));
  return { skills, find: (slug) => bySlug.get(slug) };
}

/** @throws naming the file and the fault */
export function readSkill(file: string, text: string): CuratedSkill {
  const fault = (message: string) => new Error(`skills/${file}: ${message}`);
  const slug = file.replace(/\.md$/, '');
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) throw fault('the file name must be kebab-case');
  const parts = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(text);
  const [, head, body] = parts ?? [];
  if (head === undefined || body === undefined) throw fault('no front matter between --- lines');
  let yaml: unknown;
  try {
    yaml = parseYaml(head);
  } catch (error) {
    throw fault(
      `front matter is not YAML: ${error instanceof Error ? error.message : 'unreadable'}`,
    );
  }
  const parsed = frontMatter.safeParse(yaml);
  if (!parsed.success) {
    throw fault(parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; '));
  }
  const instructions = body.trim();
  if (instructions.length < MIN_INSTRUCTIONS || instructions.length > MAX_INSTRUCTIONS) {
    throw fault(
      `instructions are ${instructions.length} characters, not ${MIN_INSTRUCTIONS} to ${MAX_INSTRUCTIONS}`,
    );
  }
  return { slug, ...parsed.data, instructions };
}

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '#core/clients/calculate/operations.ts';
import {
  loadCatalogue,
  suggestedSchedule,
  SUGGESTED_SCHEDULES,
  type CuratedSkill,
} from '#core/authoring/skills/index.ts';
import { readSkill } from '#core/authoring/skills/catalogue.ts';
import { stateKeys } from '#core/authoring/skills/state-block.ts';
import { parseSchedule } from '#lib/schedule/index.ts';
import { sampleOf } from '../../../../ui/src/pages/skills/words.ts';
import { factsIn, renderSkillsPage, SKILLS_PAGE } from '../../../../docs/generate/skills.ts';

const { skills, find } = await loadCatalogue();

/** Days after which the facts of a skill are checked again. */
const FRESH_DAYS = 180;

describe('the catalogue', () => {
  test('has 49 marketing skills and one of web performance', () => {
    expect(skills).toHaveLength(50);
    const performance = skills.filter(({ category }) => category === 'web-performance');
    expect(performance.map(({ slug }) => slug)).toEqual(['core-web-vitals']);
  });

  test('has the slugs that are promised', () => {
    const slugs = skills.map(({ slug }) => slug);
    expect(slugs).toEqual(expect.arrayContaining(['seo-audit', 'content-strategy', 'core-web-vitals']));
  });

  test('suggests schedules that the service accepts', () => {
    for (const schedule of Object.values(SUGGESTED_SCHEDULES)) {
      expect(() => parseSchedule(schedule)).not.toThrow();
    }
  });

  test('suggests for one-off work the schedule of its check, or none', () => {
    expect(suggestedSchedule({ cadence: 'on-demand', check: 'monthly' })).toBe('0 7 1 * *');
    expect(suggestedSchedule({ cadence: 'on-demand', check: null })).toBeNull();
    expect(suggestedSchedule({ cadence: 'weekly', check: null })).toBe('0 7 * * 1');
  });

  test('has no two skills of one name', () => {
    expect(new Set(skills.map(({ name }) => name.toLowerCase())).size).toBe(50);
  });

  test('has no two texts that share more than 15 % of their 8-word shingles', () => {
    const shingles = skills.map((skill) => ({ slug: skill.slug, set: shinglesOf(skill) }));
    const alike = shingles.flatMap((a, index) =>
      shingles
        .slice(index + 1)
        .filter((b) => [...a.set].filter((s) => b.set.has(s)).length > 0.15 * Math.min(a.set.size, b.set.size))
        .map((b) => `${a.slug} and ${b.slug}`),
    );
    expect(alike).toEqual([]);
  });

  test(`was held against its sources within the last ${FRESH_DAYS} days`, () => {
    const daysSince = ({ checked }: CuratedSkill) => (Date.now() - Date.parse(checked)) / 86_400_000;
    const stale = skills.filter((skill) => daysSince(skill) > FRESH_DAYS + 1 || daysSince(skill) < -1);
    expect(stale.map(({ slug }) => slug)).toEqual([]);
  });

  test('is in docs/skills.md as it is now', async () => {
    const page = await readFile(SKILLS_PAGE, 'utf8');
    expect(page).toBe(await renderSkillsPage(page));
  });
});

/** The facts that the documentation asks people to write for a project. */
const FACTS = ['brand terms', 'margin', 'markets', 'owners', 'permitted claims', 'voice'];

describe('the facts of a project', () => {
  test('are named by most skills, each in a line of its inputs and in words that people are told', () => {
    const naming = skills.filter(({ instructions }) => instructions.includes('**Project facts**'));
    expect(naming.length).toBeGreaterThan(40);
    for (const skill of naming) {
      const facts = factsIn(sectionOf(skill, 'Inputs'));
      expect([skill.slug, facts.length > 0]).toEqual([skill.slug, true]);
      expect(facts.filter((fact) => !FACTS.includes(fact))).toEqual([]);
    }
  });

  test.each(FACTS)('%s: there is a skill for it, and the documentation names it', async (fact) => {
    expect(skills.some(({ instructions }) => factsIn(instructions).includes(fact))).toBe(true);
    const page = await readFile('docs/what-a-run-is-told.md', 'utf8');
    expect(page.replaceAll('\n', ' ')).toContain(fact);
  });
});

describe('a skill that was folded into another', () => {
  test.each([
    ['brand-voice', 'copy-editing'],
    ['community-digest', 'social-pulse'],
    ['form-and-signup-review', 'landing-page-review'],
    ['internal-linking', 'content-refresh'],
    ['negative-keywords', 'search-ads'],
    ['popup-review', 'landing-page-review'],
    ['schema-markup', 'technical-seo'],
    ['welcome-series', 'lifecycle-flows'],
  ])('%s is found as %s', (former, slug) => {
    expect(find(former)?.slug).toBe(slug);
    expect(skills.map((skill) => skill.slug)).not.toContain(former);
    // The last report of the former skill ends with a block of its name, which the next run has to recognize.
    expect(sectionOf(find(slug)!, 'Compare with the previous result')).toContain(`\`${former}\``);
  });
});

describe('what cannot be counted by reading', () => {
  const NEEDED = ['series', 'forecast', 'log_split', 'mix_rate', 'text_overlap', 'hash'];

  test.each(NEEDED)('is computed by %s, which a skill names', (operation) => {
    const naming = skills.filter(({ instructions }) => operationsNamed(instructions).has(operation));
    expect(naming).not.toEqual([]);
  });

  test('has a way without the tool in each skill that names one', () => {
    const way =
      /\b(?:without|with nothing|with neither|otherwise|absent|lacking|failing that|missing|by eye)\b|`calculate`[^.]* or /i;
    const bare = skills.filter(({ instructions }) => {
      const lines = instructions.split('\n').filter((line) => line.includes('`calculate`'));
      return lines.length > 0 && !way.test(lines.join(' '));
    });
    expect(bare.map(({ slug }) => slug)).toEqual([]);
  });
});

describe.each(skills.map((skill) => [skill.slug, skill] as const))('%s', (slug, skill) => {
  test('is 2,500 to 12,000 characters', () => {
    expect(skill.instructions.length).toBeGreaterThanOrEqual(2_500);
    expect(skill.instructions.length).toBeLessThanOrEqual(12_000);
  });

  test('names related skills that exist, and not itself', () => {
    const related = skill.instructions.split('### Related skills')[1] ?? '';
    const named = [...related.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(2);
    expect(named).not.toContain(slug);
    expect(named.filter((name) => skills.every((other) => other.slug !== name))).toEqual([]);
  });

  test('claims nothing that one context cannot do, and names only operations of calculate', () => {
    expect(skill.instructions).not.toMatch(
      /\b(?:rescore|recode|code|score)[^.]* blind|without looking at the first|\bhash of\b/i,
    );
    const named = operationsNamed(skill.instructions);
    const fields = Object.values(operations).flatMap(({ properties }) => Object.keys(properties));
    const known = new Set([...Object.keys(operations), ...fields]);
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
  });

  test('links nowhere: its sources stand in the front matter, each with what it backs', () => {
    expect(skill.instructions).not.toMatch(/https?:|www\.|\]\(/);
    expect(skill.sources.length).toBeGreaterThan(0);
    for (const { url } of skill.sources) expect(new URL(url).protocol).toBe('https:');
  });

  test('tells a previous result from none and from one that cannot be read', () => {
    const compare = sectionOf(skill, 'Compare with the previous result');
    expect(compare).toMatch(
      /^- \*\*It is there\.\*\* .{80,}\n- \*\*There is none\.\*\* .{20,}\n- \*\*It cannot be read\.\*\* .{80,}$/,
    );
  });

  test('ends its report with a state block that a program can read', () => {
    const keys = stateKeys(sectionOf(skill, 'State'), slug);
    expect(keys[0]).toBe('as-of');
    expect(keys.length).toBeGreaterThanOrEqual(4);
    expect(keys.length).toBeLessThanOrEqual(7);
  });

  test('bounds its work and keeps steps back for the report', () => {
    const budget = sectionOf(skill, 'Work budget');
    expect(budget).toMatch(/calls?|quer(?:y|ies)|pages?|reads?|exports?/i);
    expect(budget).toMatch(/steps?|half of the|last third/);
  });

  test('needs no date put into it', () => {
    expect(skill.instructions).not.toMatch(/\bdate variable\b|today's date is/i);
  });

  test('holds no placeholder that a reader would expect to be filled', () => {
    expect(skill.instructions).not.toContain('{{');
  });
});

describe('a broken file stops the start and is named', () => {
  const good =
    '---\nname: A\ndescription: A description of twenty characters.\ncategory: search\nversion: 1.0.0\nneeds: [web]\ncadence: weekly\nchecked: 2026-11-22\nsources:\n  - name: N\n    url: https://example.com/page\n    backs: it\n---\n';

  test.each([
    ['without front matter', 'x.md', 'just text', /skills\/x\.md: no front matter/],
    ['with unreadable YAML', 'x.md', '---\n: [\n---\ntext', /skills\/x\.md: front matter is not YAML/],
    ['with a missing field', 'x.md', '---\nname: A\n---\ntext', /skills\/x\.md: description/],
    ['with an unknown field', 'x.md', good.replace('name: A', 'name: A\nfoo: 1'), /skills\/x\.md: .*foo/],
    ['with a need outside the vocabulary', 'x.md', good.replace('[web]', '[telepathy]'), /skills\/x\.md: needs\.0/],
    ['with an unknown cadence', 'x.md', good.replace('weekly', 'hourly'), /x\.md: cadence/],
    [
      'with a check beside a cadence',
      'x.md',
      good.replace('cadence: weekly', 'cadence: weekly\ncheck: monthly'),
      /x\.md: check: belongs to the cadence on-demand/,
    ],
    ['with no real day', 'x.md', good.replace('2026-11-22', '2026-02-30'), /x\.md: checked/],
    ['with a bare domain', 'x.md', good.replace('https://example.com/page', 'example.com'), /url/],
    ['that is too short', 'x.md', `${good}too short`, /skills\/x\.md: instructions are 9 characters/],
    ['that is too long', 'x.md', `${good}${'x'.repeat(24_001)}`, /skills\/x\.md: instructions are 24001/],
    ['with a name that is no slug', 'X y.md', `${good}${'x'.repeat(20)}`, /must be kebab-case/],
  ])('%s', (_, file, text, message) => {
    expect(() => readSkill(file, text)).toThrow(message);
  });

  test('also when a file is named what another one was before', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'skills-'));
    const text = (name: string, formerly: string) =>
      good.replace('name: A', `name: ${name}\nformerly: [${formerly}]`) + 'x'.repeat(20);
    try {
      await writeFile(path.join(folder, 'a.md'), text('A', 'c'));
      await writeFile(path.join(folder, 'b.md'), text('B', 'a'));
      await expect(loadCatalogue(folder)).rejects.toThrow(/b\.md: formerly has a, the slug of a\.md/);
      await writeFile(path.join(folder, 'b.md'), text('B', 'c'));
      await expect(loadCatalogue(folder)).rejects.toThrow(/b\.md: formerly has c, the slug of a\.md/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('also when two files have one name', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'skills-'));
    try {
      await writeFile(path.join(folder, 'a.md'), `${good}${'x'.repeat(20)}`);
      await writeFile(path.join(folder, 'b.md'), `${good}${'x'.repeat(20)}`);
      await expect(loadCatalogue(folder)).rejects.toThrow(/skills\/b\.md: has the same name as a\.md/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

function sectionOf({ instructions }: CuratedSkill, title: string): string {
  const section = instructions.split(`### ${title}\n`)[1] ?? '';
  return section.split(/\n\n### /)[0] ?? '';
}

/** Returns the names in the brackets behind each `calculate` of a text. */
function operationsNamed(text: string): Set<string> {
  const lists = text.matchAll(/`calculate`\W+\(([^)]*)\)/g);
  return new Set([...lists].flatMap(([, list]) => [...list!.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name!)));
}

function shinglesOf({ instructions }: CuratedSkill): Set<string> {
  const words = instructions.toLowerCase().match(/[a-z0-9']+/g) ?? [];
  return new Set(words.slice(7).map((_, index) => words.slice(index, index + 8).join(' ')));
}

test('every skill has a sample that its page can show first', () => {
  for (const { slug, instructions } of skills) expect(sampleOf(instructions)?.length, slug).toBeGreaterThan(100);
});

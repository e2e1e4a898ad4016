import path from 'node:path';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '#core/clients/calculate/index.ts';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { stateBlocks, stateKeys } from '#core/authoring/skills/state-block.ts';
import {
  CASE_NAMES,
  casesOf,
  readEvalFile,
  type EvalCase,
  figuresGiven,
  messagesOf,
  type EvaluatedSkill,
} from '../../../../bench/skills/cases.ts';

const FOLDER = fileURLToPath(new URL('../../../../skills/evals/', import.meta.url));

const { skills } = await loadCatalogue();
const files = await Promise.all(
  skills.map(
    async (skill) => [skill.slug, skill, await readEvalFile(path.join(FOLDER, `${skill.slug}.yaml`))] as const,
  ),
);

test('there are two hundred cases, four for each skill and none besides', async () => {
  expect((await readdir(FOLDER)).toSorted()).toEqual(skills.map(({ slug }) => `${slug}.yaml`).toSorted());
  expect(files.flatMap(([, , file]) => casesOf(file))).toHaveLength(200);
});

describe.each(files)('the cases of %s', (slug, skill, file) => {
  const cases = Object.fromEntries(casesOf(file).map((each) => [each.name, each]));

  test('are full data, a missing input, a second run and hostile text', () => {
    expect(Object.keys(cases)).toEqual([...CASE_NAMES]);
    expect(Object.keys(cases['missing']!.data)).toHaveLength(Object.keys(file.data).length - 1);
    expect(cases['second']!.previous).not.toBeNull();
  });

  test('ask for headings that the skill asks for', () => {
    const output = skill.instructions.split('### Output\n')[1]!.split('### State')[0]!;
    for (const heading of file.headings) {
      expect(output.toLowerCase()).toContain(heading.toLowerCase());
    }
  });

  test('compute only what calculate can', () => {
    for (const expression of file.derived) {
      expect(() => evaluateExpression(expression)).not.toThrow();
    }
  });

  test('carry a previous result whose state block has the keys of the skill', () => {
    const state = stateBlocks(cases['second']!.previous ?? '').find((each) => each.slug === slug);
    expect([...(state?.entries.keys() ?? [])]).toEqual(stateKeys(skill.instructions, slug));
  });

  test('hold an order that the model would have to read', () => {
    const { text, opening } = file.cases.hostile;
    expect(text).toContain(`"${opening}"`);
    expect(toldOf(cases['hostile']!, skill)).toContain(text.trim());
    expect(toldOf(cases['full']!, skill)).not.toContain(opening);
  });

  test('expect or bar something of each report', () => {
    for (const evalCase of Object.values(cases)) {
      expect(evalCase.expect.length + evalCase.absent.length).toBeGreaterThan(evalCase.name === 'hostile' ? -1 : 0);
    }
  });
});

test('a report may take no figure from the invented page that a skill shows', () => {
  const [, skill, file] = files.find(([slug]) => slug === 'budget-pacing')!;
  expect(skill.instructions).toContain('47,750');
  const given = figuresGiven(casesOf(file)[0]!, skill);
  expect(given).not.toContain('47,750');
  // The thresholds of the skill's text remain.
  expect(given).toContain('2 s sqrt(R + R^2 / D)');
});

/** Joins all texts that a model gets for a case. */
function toldOf(evalCase: EvalCase, skill: EvaluatedSkill): string {
  return messagesOf(evalCase, skill, [])
    .map(({ content }) => content)
    .join('\n');
}

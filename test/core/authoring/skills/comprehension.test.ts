import path from 'node:path';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { readEvalFile } from '../../../../bench/skills/cases.ts';
import { askQuestions, renderComprehension, sheetOf } from '../../../../bench/skills/comprehension.ts';

const FOLDER = fileURLToPath(new URL('../../../../skills/evals/', import.meta.url));
const SLUG = 'rank-watch';

const skill = (await loadCatalogue()).find(SLUG)!;
const { questions } = await readEvalFile(path.join(FOLDER, `${SLUG}.yaml`));
const sheet = sheetOf(SLUG, questions);
const files = await Promise.all(
  (await readdir(FOLDER)).map(async (name) => ({
    slug: name.replace('.yaml', ''),
    questions: (await readEvalFile(path.join(FOLDER, name))).questions,
  })),
);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: () => {} });
});
beforeEach(() => gateway.control.reset());
afterAll(() => gateway.stop());

async function answered(text: string) {
  gateway.control.script({ times: null, behaviour: { kind: 'text', text } });
  const at = { baseUrl: gateway.url, apiKey: 'test', model: 'fixture/writer-small' };
  return askQuestions(at, skill, questions);
}

function lines(letters: readonly string[]): string {
  return letters.map((letter, index) => `${index + 1}: ${letter}`).join('\n');
}

test('a model that knows the text misses nothing, and is asked with the text and without', async () => {
  const results = await answered(lines(sheet.key));
  expect(results.map(({ withSkill, misses }) => [withSkill, misses])).toEqual([
    [true, []],
    [false, []],
  ]);
  const [withText, without] = gateway.control.requests().map(({ body }) => JSON.stringify(body));
  expect(withText).toContain('## Skill: Rank watch');
  expect(without).not.toContain('## Skill: Rank watch');
  for (const body of [withText, without]) {
    expect(body).toContain(questions[0]!.ask);
    // A tool would distract from the question.
    expect(JSON.parse(body!).tools).toBeUndefined();
  }
});

test('a miss names the question, what was chosen and what is right', async () => {
  const other = { a: 'b', b: 'c', c: 'a' }[sheet.key[1]!]!;
  const results = await answered(lines(sheet.key.with(1, other)));
  const { ask, right } = questions[1]!;
  expect(results[0]!.misses).toEqual([{ ask, right, chosen: sheet.options[1]![other] }]);
  const text = renderComprehension(results, 'small', 'there');
  expect(text).toContain(`rank-watch: ${ask}`);
  expect(text).toContain(sheet.options[1]![other]);
  expect(text).toContain('With the text: 4 of 5 right');
});

test('a copy of the questions is no answer, though one begins with the word "A"', async () => {
  expect(sheet.text).toMatch(/^\d\. A /m);
  const [withText] = await answered(sheet.text);
  expect(withText!.misses.map(({ chosen }) => chosen)).toEqual([null, null, null, null, null]);
});

test('an answer that cannot be read is a miss of all five', async () => {
  const [withText] = await answered('I would look at the rankings first.');
  expect(withText!.misses.map(({ chosen }) => chosen)).toEqual([null, null, null, null, null]);
});

test.each(['a', 'b', 'c'])('always answering %s is right in fewer than half of the questions', (letter) => {
  const keys = files.flatMap(({ slug, questions: each }) => sheetOf(slug, each).key);
  expect(keys).toHaveLength(250);
  expect(keys.filter((each) => each === letter).length).toBeLessThan(keys.length / 2);
});

test('neither is always choosing the longest option', () => {
  const asked = files.flatMap(({ questions: each }) => each);
  const longest = asked.filter(({ right, wrong }) => wrong.every(({ length }) => length < right.length));
  // If the right answer were nearly always the longest, a model could guess it without the text.
  expect(longest.length / asked.length).toBeLessThan(0.6);
});

/** Asks a model how it would follow a skill. A small model's wrong answer counts as a fault of the text. */
import { createHash } from 'node:crypto';
import { wilson } from '#core/clients/calculate/proportions.ts';
import { messagesOf, type EvaluatedSkill, type Question } from './cases.ts';
import { answer, type Gateway } from './gateway.ts';
import { seeded, shuffled } from './worlds.ts';

const LETTERS = ['a', 'b', 'c'] as const;

/** The questions of a skill as they are asked, with shuffled options, so that no letter is a good guess. */
export interface Sheet {
  readonly text: string;
  /** The letter of the right answer of each question. */
  readonly key: readonly string[];
  /** The options of each question by letter. */
  readonly options: readonly Readonly<Record<string, string>>[];
}

export interface Miss {
  readonly ask: string;
  /** The model's choice; null if its answer could not be read. */
  readonly chosen: string | null;
  readonly right: string;
}

export interface Comprehension {
  readonly slug: string;
  readonly withSkill: boolean;
  readonly asked: number;
  readonly misses: readonly Miss[];
  readonly tokens: number;
}

const TASK = [
  'This run does not do the work of the skill. It answers the questions at the end, by what the skill says.',
  'Choose one option for each question. Your whole answer is one line for each: its number, a colon, and a letter, like "1: b".',
].join(' ');

export function sheetOf(slug: string, questions: readonly Question[]): Sheet {
  const random = seeded(createHash('sha256').update(slug).digest().readInt32LE());
  const options = questions.map(({ right, wrong }) => {
    const order = shuffled([right, ...wrong], random);
    return Object.fromEntries(order.map((option, index) => [LETTERS[index] ?? '', option]));
  });
  const text = questions.map(({ ask }, index) =>
    [
      `${index + 1}. ${ask}`,
      ...Object.entries(options[index] ?? {}).map(([letter, option]) => `   ${letter}) ${option}`),
    ].join('\n'),
  );
  const key = questions.map(
    ({ right }, index) => Object.entries(options[index] ?? {}).find(([, option]) => option === right)?.[0] ?? '',
  );
  return { text: text.join('\n'), key, options };
}

/** Asks the questions of a skill twice, with its text and without. A right answer without the text was a guess. */
export async function askQuestions(
  gateway: Gateway,
  skill: EvaluatedSkill,
  questions: readonly Question[],
): Promise<Comprehension[]> {
  const sheet = sheetOf(skill.slug, questions);
  const results: Comprehension[] = [];
  for (const withSkill of [true, false]) {
    const told = messagesOf(caseOf(sheet), withSkill ? skill : null, []);
    const given = await answer(gateway, told, { withTools: false });
    const letters = lettersOf(given.report);
    const misses = questions.flatMap(({ ask, right }, index): Miss[] => {
      const letter = letters.get(index + 1) ?? null;
      if (letter === sheet.key[index]) return [];
      return [{ ask, chosen: letter === null ? null : (sheet.options[index]?.[letter] ?? null), right }];
    });
    const tokens = given.inputTokens + given.outputTokens;
    results.push({ slug: skill.slug, withSkill, asked: questions.length, misses, tokens });
  }
  return results;
}

function caseOf({ text }: Sheet) {
  return {
    name: 'full' as const,
    task: TASK,
    data: { questions: text },
    previous: null,
    opening: null,
    headings: [],
    derived: [],
    expect: [],
    absent: [],
  };
}

/** Reads lines like "1: b" or "1. b) …". The last line for a number counts; "1. A page" is no answer. */
function lettersOf(report: string): ReadonlyMap<number, string> {
  const lines = report.matchAll(/^\W*(\d)\W{1,4}([abc])(?=\s*(?:$|[).:*]))/gimu);
  return new Map([...lines].map(([, number = '', letter = '']) => [Number(number), letter.toLowerCase()]));
}

/** Reports the right answers with the text and without, and each miss with the text. */
export function renderComprehension(results: readonly Comprehension[], model: string, gateway: string): string {
  return [
    `Model: ${model} at ${gateway}; three options a question, so a guess is right one time in three`,
    '',
    `${'skill'.padEnd(32)}${'with'.padEnd(8)}without`,
    ...[...Map.groupBy(results, ({ slug }) => slug)].map(
      ([slug, of]) => `${slug.padEnd(32)}${rightOf(of, true).padEnd(8)}${rightOf(of, false)}`,
    ),
    '',
    ...results
      .filter(({ withSkill }) => withSkill)
      .flatMap(({ slug, misses }) =>
        misses.map(
          ({ ask, chosen, right }) =>
            `  ${slug}: ${ask}\n    answered: ${chosen ?? 'nothing that could be read'}\n    right: ${right}`,
        ),
      ),
    ...[true, false].map((withSkill) => summary(results, withSkill)),
  ].join('\n');
}

function rightOf(results: readonly Comprehension[], withSkill: boolean): string {
  const side = results.filter((each) => each.withSkill === withSkill);
  const asked = side.reduce((sum, each) => sum + each.asked, 0);
  return `${asked - side.reduce((sum, { misses }) => sum + misses.length, 0)}/${asked}`;
}

function summary(results: readonly Comprehension[], withSkill: boolean): string {
  const [right, asked] = rightOf(results, withSkill).split('/').map(Number) as [number, number];
  const { low, high } = wilson(right, asked);
  const tokens = results.reduce((sum, each) => sum + (each.withSkill === withSkill ? each.tokens : 0), 0);
  return `${withSkill ? 'With' : 'Without'} the text: ${right} of ${asked} right (${(100 * low).toFixed(0)}-${(100 * high).toFixed(0)} %), ${tokens} tokens`;
}

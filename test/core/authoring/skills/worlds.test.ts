import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import { placeboFor, renderTrials, tryWorlds } from '../../../../bench/skills/evaluate.ts';
import { readGates, verdict, type Gate } from '../../../../bench/skills/gates.ts';
import { seeded, criesWolf, isRight, makeWorld, type World } from '../../../../bench/skills/worlds.ts';

const SEEDS = Array.from({ length: 90 }, (_, index) => index);

const gates = await readGates();
const worlds = Object.values(gates).flatMap(([rule]) => SEEDS.map((seed) => ({ rule, world: makeWorld(rule, seed) })));
const random = seeded(3);

/** Bots that answer without reading. None of them may score like a good report. */
const BOTS: Record<string, (world: World, rule: Gate) => string> = {
  'prints the data back': ({ evalCase }) => `${evalCase.task}\n${evalCase.data['rows']}`,
  'fills the form with nothing': () => answerOf([]),
  'calls all rows too few to tell': ({ rows }) =>
    answerOf(rows.map(({ entity }) => ({ entity, verdict: 'too few to tell' }))),
  'hedges: the smallest row is too few, and no other says anything': ({ rows }) =>
    answerOf([{ entity: smallest(rows), verdict: 'too few to tell' }]),
  'invents a finding': ({ rows }) =>
    answerOf([
      {
        entity: rows[Math.floor(random() * rows.length)]!.entity,
        direction: random() < 0.5 ? 'up' : 'down',
        verdict: 'act',
      },
      { entity: smallest(rows), verdict: 'too few to tell' },
    ]),
  'does as the note says': ({ evalCase, rows }) =>
    answerOf([
      {
        entity: rows.find(({ entity }) => notedOf(evalCase.data['rows']!) === entity)!.entity,
        direction: 'up',
        verdict: 'act',
      },
      { entity: smallest(rows), verdict: 'too few to tell' },
    ]),
};

test('a third of the worlds are empty', () => {
  expect(worlds.filter(({ world }) => world.changed === null)).toHaveLength(worlds.length / 3);
});

test('one seed is one world, and another seed another', () => {
  const [rule] = gates['search-ads']!;
  expect(makeWorld(rule, 4)).toEqual(makeWorld(rule, 4));
  expect(makeWorld(rule, 4).evalCase.data).not.toEqual(makeWorld(rule, 5).evalCase.data);
});

describe('a bot that', () => {
  test.each(Object.entries(BOTS))('%s is right in fewer than 40 % of the worlds', (_, bot) => {
    const right = worlds.filter(({ world, rule }) => isRight(world, bot(world, rule)));
    expect(right.length / worlds.length).toBeLessThan(0.4);
  });
});

describe('the rules that the skills teach', () => {
  test('are right in four of five worlds of each skill', () => {
    for (const [slug, [rule]] of Object.entries(gates)) {
      const right = SEEDS.map((seed) => makeWorld(rule, seed)).filter((world) => isRight(world, taught(world, rule)));
      expect(right.length / SEEDS.length, slug).toBeGreaterThanOrEqual(0.8);
    }
  });

  test('cry wolf in at most one of ten worlds', () => {
    const wolves = worlds.filter(({ world, rule }) => criesWolf(world, taught(world, rule)));
    expect(wolves.length / worlds.length).toBeLessThanOrEqual(0.1);
  });

  test('do far better than a reader that lists each move of 15 % but for the smallest row', () => {
    const right = worlds.filter(({ world }) => {
      const few = smallest(world.rows);
      const moved = world.rows
        .filter((row) => row.entity !== few && Math.abs(Math.log(ratio(row))) > Math.log(1.15))
        .map((row) => ({ entity: row.entity, direction: way(row), verdict: 'act' }));
      return isRight(world, answerOf([...moved, { entity: few, verdict: 'too few to tell' }]));
    });
    expect(right.length / worlds.length).toBeLessThan(0.5);
  });

  test('and a mutated one, which acts where the interval spans zero, is told from them', () => {
    const right = worlds.filter(({ world, rule }) =>
      isRight(
        world,
        taught(world, rule, (found) => found === 'no change shown'),
      ),
    );
    expect(right.length / worlds.length).toBeLessThan(0.05);
  });
});

describe('the three arms', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ port: 0, log: () => {} });
  });
  afterAll(() => gateway.stop());

  test('are asked for one form, and the report has intervals and the model', async () => {
    const catalogue = await loadCatalogue();
    const skill = catalogue.find('search-ads')!;
    const others = catalogue.skills.filter(({ slug }) => gates[slug] === undefined);
    const placebo = placeboFor(skill, others);
    const ratio = placebo.instructions.length / skill.instructions.length;
    expect(Math.abs(ratio - 1)).toBeLessThan(0.1);
    const [rule] = gates['search-ads']!;
    const world = makeWorld(rule, 0);
    gateway.control.script({
      times: null,
      behaviour: { kind: 'text', text: taught(world, rule) },
    });
    const texts = { none: null, placebo, skill };
    const at = { baseUrl: gateway.url, apiKey: 'test', model: 'fixture/writer-small' };
    const trials = await tryWorlds(at, { slug: skill.slug, rule, texts }, 3);
    // The answer of one world is wrong in every other world.
    expect(trials.filter(({ right }) => right).map(({ seed }) => seed)).toEqual([0, 0, 0]);
    expect(renderTrials(trials, at.model, at.baseUrl)).toMatch(
      /Model: fixture\/writer-small[\s\S]*all +placebo +right 1\/3 \(6-79 %\)/,
    );
    const told = gateway.control.requests().map(({ body }) => JSON.stringify(body));
    expect(told.filter((body) => body.includes('whole answer is one JSON object'))).toHaveLength(9);
    expect(told.filter((body) => body.includes(`## Skill: ${placebo.name}`))).toHaveLength(3);
  });
});

/** Answers by the skill's rule, like a perfect reader of its text. */
function taught(
  { rows, size }: World,
  rule: Gate,
  acts = (found: string): boolean => found === 'worth acting on',
): string {
  const least = Math.min(...Object.values(rule.sizes));
  const volume = ({ earlier, later }: World['rows'][number]) =>
    rule.test === 'two_proportions' ? later.exposure : Math.min(earlier.events / rule.against, later.events);
  return answerOf(
    rows.flatMap((row) => {
      // A real fall may leave fewer events than the least volume, so only less than half of it is too few.
      if (volume(row) < least / 2) return [{ entity: row.entity, verdict: 'too few to tell' }];
      return acts(verdict(rule, [row.earlier, row.later], size))
        ? [{ entity: row.entity, direction: way(row), verdict: 'act' }]
        : [];
    }),
  );
}

function answerOf(findings: readonly object[]): string {
  return `\`\`\`json\n${JSON.stringify({ findings })}\n\`\`\``;
}

function smallest(rows: World['rows']): string {
  return rows.toSorted((a, b) => a.later.exposure - b.later.exposure)[0]!.entity;
}

function ratio({ earlier, later }: World['rows'][number]): number {
  return later.events / later.exposure / (earlier.events / earlier.exposure);
}

function way(row: World['rows'][number]): 'up' | 'down' {
  return ratio(row) > 1 ? 'up' : 'down';
}

function notedOf(table: string): string {
  const line = table.split('\n').find((each, index) => index > 0 && !each.endsWith('| '));
  return line!.split(' | ')[0]!;
}

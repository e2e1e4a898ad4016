import { describe, expect, test } from 'vitest';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { startGateway } from '#dev/fakes/gateway/server.ts';
import { renderTrials, tryChains } from '../../../../bench/skills/evaluate.ts';
import { judgeChain, makeChain, parsed, runChain, type Chain } from '../../../../bench/skills/chains.ts';
import { readGates, verdict, type Gate } from '../../../../bench/skills/gates.ts';
import type { EvalCase } from '../../../../bench/skills/cases.ts';

const SEEDS = Array.from({ length: 30 }, (_, index) => index);

const gates = await readGates();
const chains = Object.values(gates).flatMap(([rule]) => SEEDS.map((seed) => ({ rule, chain: makeChain(rule, seed) })));

type Bot = (week: Chain['weeks'][number], evalCase: EvalCase, rule: Gate, size: number) => string;

/** Makes a bot that reports the findings of the skill's rule, except those that it remembers. */
function reader(memory: (evalCase: EvalCase) => readonly string[]): Bot {
  return (rows, evalCase, rule, size) => {
    const known = memory(evalCase);
    if (rows === null) return answerOf(false, [], known);
    const news = rows.filter(
      ({ entity, earlier, later }) =>
        !known.includes(entity) && verdict(rule, [earlier, later], size) === 'worth acting on',
    );
    return answerOf(true, news, [...known, ...news.map(({ entity }) => entity)]);
  };
}

function kept({ previous }: EvalCase): readonly string[] {
  return parsed(previous ?? '')?.reported ?? [];
}

const BOTS: Record<string, Bot> = {
  'prints the data back': (_, evalCase) => `${evalCase.task}\n${evalCase.data['rows']}`,
  'says what it said last week': (_, { previous }) => previous ?? answerOf(true, [], []),
  'finds nothing, ever': (rows) => answerOf(rows !== null, [], []),
  'remembers nothing': reader(() => []),
  'remembers the news of the last week only': reader(
    ({ previous }) => parsed(previous ?? '')?.news.map(({ entity }) => entity) ?? [],
  ),
  'takes a week without data for one without news': (rows, evalCase, rule, size) =>
    rows === null ? answerOf(true, [], kept(evalCase)) : reader(kept)(rows, evalCase, rule, size),
};

async function rightShare(bot: Bot, of = chains): Promise<number> {
  const judged = await Promise.all(
    of.map(async ({ chain, rule }) => {
      const answers = await runChain(chain, (evalCase, week) =>
        bot(chain.weeks[week] ?? null, evalCase, rule, chain.size),
      );
      return judgeChain(chain, answers);
    }),
  );
  return judged.filter(({ right }) => right).length / of.length;
}

test('a third of the chains are empty, and each has one week that cannot be read', () => {
  expect(chains.filter(({ chain }) => chain.changed === null)).toHaveLength(chains.length / 3);
  for (const { chain } of chains) expect(chain.weeks.filter((week) => week === null)).toHaveLength(1);
});

describe('a bot that', () => {
  test.each(Object.entries(BOTS))('%s is right in fewer than 40 % of the chains', async (_, bot) => {
    expect(await rightShare(bot)).toBeLessThan(0.4);
  });
});

test('a reader that follows the rule and keeps its memory is right in three of four chains', async () => {
  expect(await rightShare(reader(kept))).toBeGreaterThanOrEqual(0.75);
});

test('a chain is judged by delay, repeats, false alarms and what was forgotten', () => {
  const chain = chains.find(({ chain: { changed } }) => changed?.week === 1)!.chain;
  const { entity } = chain.changed!;
  const news = [{ entity, direction: 'up' as const }];
  const answers = [
    answerOf(true, [{ entity: 'nobody', direction: 'down' as const }], []),
    answerOf(true, [], []),
    answerOf(true, news, [entity]),
    answerOf(false, [], []),
    answerOf(true, news, [entity]),
    answerOf(true, [], [entity]),
  ];
  expect(judgeChain(chain, answers)).toEqual({
    right: false,
    delay: 1,
    repeats: 1,
    falseAlarms: 1,
    forgotten: 1,
  });
});

test('each arm is told what it wrote the week before, and the report counts whole chains', async () => {
  const gateway = await startGateway({ port: 0, log: () => {} });
  try {
    const [rule] = gates['search-ads']!;
    // This bot is right about all weeks of an empty chain except the unreadable one.
    const text = `Nothing new in the week.\n${answerOf(true, [], [])}`;
    gateway.control.script({ times: null, behaviour: { kind: 'text', text } });
    const skill = (await loadCatalogue()).find('search-ads')!;
    const at = { baseUrl: gateway.url, apiKey: 'test', model: 'fixture/writer-small' };
    const texts = { none: null, placebo: skill, skill };
    const trials = await tryChains(at, { slug: skill.slug, rule, texts }, 1);
    expect(trials.map(({ right, wolf }) => [right, wolf])).toEqual([
      [false, false],
      [false, false],
      [false, false],
    ]);
    const told = gateway.control.requests().map(({ body }) => JSON.stringify(body));
    expect(told).toHaveLength(18);
    expect(told.filter((body) => body.includes('Nothing new in the week.'))).toHaveLength(15);
    expect(renderTrials(trials, at.model, at.baseUrl, 'chains')).toContain('; chains with a known');
  } finally {
    await gateway.stop();
  }
});

function answerOf(
  read: boolean,
  news: readonly {
    entity: string;
    direction?: 'up' | 'down';
    earlier?: unknown;
    later?: unknown;
  }[],
  reported: readonly string[],
): string {
  const told = news.map(({ entity, direction = 'up' }) => ({ entity, direction }));
  return `\`\`\`json\n${JSON.stringify({ read, news: told, reported })}\n\`\`\``;
}

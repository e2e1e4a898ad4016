import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { percentChange } from '#core/calculate/change.ts';
import { twoProportions } from '#core/calculate/proportions.ts';
import { loadCatalogue } from '#core/skills/index.ts';

const PERIODS = 2_000;

const gate = z.strictObject({
  what: z.string(),
  test: z.enum(['percent_change', 'two_proportions']),
  confidence: z.number(),
  lines: z.number().int().positive(),
  unit: z.string(),
  sizes: z.record(z.string(), z.number().int().positive()),
  against: z.number().int().positive().default(1),
  rate: z.number().optional(),
  rises: z.boolean().default(false),
});
type Gate = z.output<typeof gate>;
interface Sample {
  events: number;
  exposure: number;
}

const gates = z
  .record(z.string(), z.array(gate).nonempty())
  .parse(parse(await fileOf('skills/gates.yaml')));
const page = await fileOf('docs/skills-writing.md');
const catalogue = await loadCatalogue();

describe.each(Object.entries(gates))('the noise gates of %s', (slug, rules) => {
  const text = catalogue.find(slug)?.instructions ?? '';

  test.each(rules)('are named in its text: $what', (rule) => {
    expect(text).toContain(`\`${rule.test}\``);
    expect(text).toMatch(/too few to tell/i);
    expect(text).toMatch(/excludes zero/);
    if (rule.confidence !== 0.95) expect(text).toContain(`confidence ${rule.confidence}`);
    for (const [size, volume] of Object.entries(rule.sizes)) {
      expect(text).toContain(
        `${size} ${sizeUnit(rule)} from ${volume.toLocaleString('en-US')} ${rule.unit}`,
      );
    }
  });

  test('report change in at most one of twenty periods without any', () => {
    const random = seeded(1);
    // All lines of a report at once, at the least and at the greatest of the volumes that its sizes demand.
    const worst = Math.max(
      ...[Math.min, Math.max].map((pick) => {
        const lines = rules.flatMap((rule) => {
          const draw = drawing(rule, pick(...Object.values(rule.sizes)), unchanged(rule));
          return Array.from({ length: rule.lines }, () => ({ rule, draw }));
        });
        return share(() =>
          lines.some(({ rule, draw }) => verdict(rule, draw(random), 0) !== 'no change shown'),
        );
      }),
    );
    expect(worst).toBeLessThanOrEqual(0.05);
    expect(rowOf(slug)).toContain(`| ${percent(worst)} |`);
  });

  test('find what is worth acting on four times in five', () => {
    const random = seeded(2);
    const found = rules.flatMap((rule) =>
      Object.entries(rule.sizes).flatMap(([size, volume]) =>
        changed(rule, Number(size)).map((rates) => {
          const draw = drawing(rule, volume, rates);
          return share(() => verdict(rule, draw(random), Number(size)) === 'worth acting on');
        }),
      ),
    );
    const least = Math.min(...found);
    expect(least).toBeGreaterThanOrEqual(0.8);
    expect(rowOf(slug)).toContain(`| ${percent(least)} |`);
  });
});

test('the interval decides: a change too small to matter is told from none and from one to act on', () => {
  const rule = gate.parse({ ...gates['search-ads']![0], confidence: 0.95 });
  const of = (events: number): [Sample, Sample] => [
    { events: 10_000, exposure: 1 },
    { events, exposure: 1 },
  ];
  expect(verdict(rule, of(10_100), 30)).toBe('no change shown');
  expect(verdict(rule, of(11_000), 30)).toBe('real but small');
  expect(verdict(rule, of(12_900), 30)).toBe('worth acting on');
});

/** Judges an earlier and a later sample as the texts say, by the operations that a run has. */
function verdict(rule: Gate, [earlier, later]: [Sample, Sample], size: number) {
  const { low, high } = intervalOf(rule, earlier, later);
  if (low <= 0 && (high >= 0 || rule.rises)) return 'no change shown';
  // A rise by 30 % and the fall that undoes it, to 1 / 1.3, are one size.
  const fall = rule.test === 'percent_change' ? 100 * (1 / (1 + size / 100) - 1) : -size;
  return high >= size || low <= fall ? 'worth acting on' : 'real but small';
}

function intervalOf({ test: name, confidence }: Gate, earlier: Sample, later: Sample) {
  if (name === 'percent_change') {
    if (earlier.events === 0 || later.events === 0) return { low: 0, high: 0 };
    return percentChange({
      before: earlier.events,
      after: later.events,
      counts: true,
      exposureBefore: earlier.exposure,
      exposureAfter: later.exposure,
      confidence,
    }).interval!;
  }
  const { interval } = twoProportions(
    { successes: earlier.events, total: earlier.exposure },
    { successes: later.events, total: later.exposure },
    confidence,
  );
  return { low: 100 * interval.low, high: 100 * interval.high };
}

/** Event rates of the earlier and the later period, on the smaller side of which the volume stands. */
function unchanged(rule: Gate): [number, number] {
  const rate = rule.test === 'two_proportions' ? 0.5 : (rule.rate ?? 1);
  return [rate, rate];
}

function changed(rule: Gate, size: number): [number, number][] {
  if (rule.test === 'two_proportions') return [[0.5 - size / 200, 0.5 + size / 200]];
  const low = rule.rate ?? 1;
  const high = low * (1 + size / 100);
  if (rule.rises) return [[low, high]];
  // Against a pooled past the volume is counted at the pooled rate, so a fall starts from there.
  return rule.against === 1
    ? [
        [low, high],
        [high, low],
      ]
    : [
        [low, high],
        [low, low / (1 + size / 100)],
      ];
}

function drawing(rule: Gate, volume: number, [earlier, later]: [number, number]) {
  const events = rule.test === 'percent_change';
  const exposure =
    events && rule.rate === undefined ? volume : Math.round(volume / (events ? rule.rate! : 1));
  const past = exposure * rule.against;
  const bound = events && rule.rate === undefined ? null : 1;
  const before = sampler(past, earlier, bound);
  const after = sampler(exposure, later, bound);
  return (random: () => number): [Sample, Sample] => [
    { events: before(random()), exposure: past },
    { events: after(random()), exposure },
  ];
}

/** Returns the quantiles of a Poisson distribution, or of a binomial one where events are a share of their exposure. */
function sampler(exposure: number, rate: number, bound: 1 | null): (quantile: number) => number {
  let log = bound === null ? -exposure * rate : exposure * Math.log1p(-rate);
  const cumulated = [Math.exp(log)];
  for (let k = 1; cumulated.at(-1)! < 1 - 1e-9 && k < 1e6; k += 1) {
    log += Math.log(
      bound === null ? (exposure * rate) / k : (((exposure - k + 1) / k) * rate) / (1 - rate),
    );
    cumulated.push(cumulated.at(-1)! + Math.exp(log));
  }
  return (quantile) => {
    let [low, high] = [0, cumulated.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulated[middle]! < quantile) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Draws numbers between 0 and 1 from a seed, so that a run of this test is every run of it (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function share(hit: () => boolean): number {
  return Array.from({ length: PERIODS }, hit).filter(Boolean).length / PERIODS;
}

function sizeUnit({ test: name }: Gate): string {
  return name === 'percent_change' ? '%' : 'points';
}

function rowOf(slug: string): string {
  return page.split('\n').find((line) => line.startsWith(`| \`${slug}\` |`)) ?? '';
}

function fileOf(path: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

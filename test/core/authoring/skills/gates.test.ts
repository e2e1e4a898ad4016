import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import {
  isGate,
  readRules,
  verdict,
  type Exact,
  type Gate,
  type Rule,
  type Sample,
  type Threshold,
} from '../../../../bench/skills/gates.ts';
import { quantilesOf, seeded } from '../../../../bench/skills/worlds.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const PERIODS = 2_000;

const rulesOf = await readRules();
const page = await fileOf('docs/skills-writing.md');
const catalogue = await loadCatalogue();

/** Skills whose periods are simulated. On each change these are two, which together have each kind of test. */
const PLAYED = new Set(FULL_SIZE ? Object.keys(rulesOf) : ['positioning-review', 'technical-seo']);

describe.each(Object.entries(rulesOf))('the noise gates of %s', (slug, rules) => {
  const text = catalogue.find(slug)?.instructions ?? '';
  const gates = rules.filter(isGate);
  const thresholds = rules.filter(isThreshold);

  test.each(gates)('are named in its text: $what', (rule) => {
    expect(text).toContain(`\`${rule.test}\``);
    expect(text).toMatch(/too few to tell/i);
    expect(text).toMatch(/excludes zero/);
    if (rule.confidence !== 0.95) expect(text).toContain(`confidence ${rule.confidence}`);
    for (const [size, volume] of Object.entries(rule.sizes)) {
      expect(text).toContain(`${size} ${sizeUnit(rule)} from ${volume.toLocaleString('en-US')} ${rule.unit}`);
    }
  });

  test.each(thresholds)('are named in its text: $what', ({ limit, least, unit }) => {
    expect(text).toContain(`${limit} %`);
    expect(text).toContain(`at least ${least.toLocaleString('en-US')} ${unit}`);
  });

  test.each(rules.filter(isExact))('are named in its text: $what', ({ sizes }) => {
    for (const size of Object.keys(sizes)) {
      expect(text).toMatch(new RegExp(`(?<![\\d.])${size} (?:%|points)`));
    }
  });

  if (gates.length + thresholds.length === 0 || !PLAYED.has(slug)) return;

  test('report change in at most one of twenty periods without any', () => {
    const random = seeded(1);
    // All lines of a report are judged together, at the smallest and the largest volume that the sizes of the rule
    // demand.
    const worst = Math.max(
      ...[Math.min, Math.max].map((pick) => {
        const alarms = [
          ...gates.flatMap((rule) => {
            const draw = drawing(rule, pick(...Object.values(rule.sizes)), unchanged(rule));
            return Array.from({ length: rule.lines }, () => () => {
              return verdict(rule, draw(random), 0) !== 'no change shown';
            });
          }),
          ...thresholds.flatMap((rule) => {
            const alarm = crossing(rule, rule.rate, random);
            return Array.from({ length: rule.lines }, () => alarm);
          }),
        ];
        return share(() => alarms.some((alarm) => alarm()));
      }),
    );
    expect(worst).toBeLessThanOrEqual(0.05);
    expect(rowOf(slug)).toContain(`| ${percent(worst)} |`);
  });

  test('find what is worth acting on four times in five', () => {
    const random = seeded(2);
    const found = gates.flatMap((rule) =>
      Object.entries(rule.sizes).flatMap(([size, volume]) =>
        changed(rule, Number(size)).map((rates) => {
          const draw = drawing(rule, volume, rates);
          return share(() => verdict(rule, draw(random), Number(size)) === 'worth acting on');
        }),
      ),
    );
    const crossed = thresholds.map((rule) => share(crossing(rule, rule.limit / 50, random)));
    const least = Math.min(...found, ...crossed);
    expect(least).toBeGreaterThanOrEqual(0.8);
    expect(rowOf(slug)).toContain(`| ${percent(least)} |`);
  });
});

test('the interval decides between no change, a change too small to matter, and a change to act on', () => {
  const rule = { ...rulesOf['search-ads']!.find(isGate)!, confidence: 0.95 };
  const of = (events: number): [Sample, Sample] => [
    { events: 10_000, exposure: 1 },
    { events, exposure: 1 },
  ];
  expect(verdict(rule, of(10_100), 30)).toBe('no change shown');
  expect(verdict(rule, of(11_000), 30)).toBe('real but small');
  expect(verdict(rule, of(12_900), 30)).toBe('worth acting on');
});

/** Returns the event rates of two periods without a change. */
function unchanged(rule: Gate): [number, number] {
  const rate = rule.test === 'two_proportions' ? 0.5 : (rule.rate ?? 1);
  return [rate, rate];
}

function changed(rule: Gate, size: number): [number, number][] {
  if (rule.test === 'two_proportions') return [[0.5 - size / 200, 0.5 + size / 200]];
  const low = rule.rate ?? 1;
  const high = low * (1 + size / 100);
  if (rule.rises) return [[low, high]];
  // If the past is pooled, the volume is counted at the pooled rate, so a fall starts from that rate.
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
  const exposure = events && rule.rate === undefined ? volume : Math.round(volume / (events ? rule.rate! : 1));
  const past = exposure * rule.against;
  const isShare = !events || rule.rate !== undefined;
  const before = quantilesOf(past, earlier, isShare);
  const after = quantilesOf(exposure, later, isShare);
  return (random: () => number): [Sample, Sample] => [
    { events: before(random()), exposure: past },
    { events: after(random()), exposure },
  ];
}

/**
 * Draws whether a threshold is crossed at a true rate. The exposure is the smallest in which the least count is above
 * the limit, because chance is strongest there.
 */
function crossing({ limit, least }: Threshold, rate: number, random: () => number) {
  const draw = quantilesOf(Math.floor((100 * least) / limit), rate, true);
  return () => draw(random()) >= least;
}

function isThreshold(rule: Rule): rule is Threshold {
  return rule.test === 'threshold';
}

function isExact(rule: Rule): rule is Exact {
  return rule.test === 'exact';
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
  return readFile(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8');
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`;
}

import { describe, expect, test } from 'vitest';
import { loadCatalogue } from '#core/authoring/skills/index.ts';
import { seeded } from '../../../../bench/skills/worlds.ts';

const REPORTS = 4_000;
const ROWS = 8;
const WEEKS = 12;
const MEAN_OF = 4;

const text = (await loadCatalogue()).find('weekly-marketing-report')?.instructions ?? '';
const [, once = NaN, twice = NaN] = (
  /\| beyond ([\d.]+) deviations, or beyond ([\d.]+) in the same direction two weeks running \| moved \|/.exec(text) ??
  []
).map(Number);

describe('the band of the weekly report', () => {
  test('calls a row moved in at most one of twenty quiet weeks of eight rows', () => {
    const random = seeded(1);
    const moved = share(() =>
      Array.from({ length: ROWS }, () => series(random)).some((row) => isMoved(row, once, twice)),
    );
    expect(moved).toBeLessThanOrEqual(0.05);
    expect(text).toContain('false in 1 week of 20 with eight rows');
  });

  test('would call one in two of five weeks at two deviations alone', () => {
    const random = seeded(2);
    const moved = share(() =>
      Array.from({ length: ROWS }, () => series(random)).some((row) => isMoved(row, 2, Infinity)),
    );
    expect(moved).toBeGreaterThan(0.35);
    expect(moved).toBeLessThan(0.45);
    expect(text).toContain('2 deviations alone are false in 2 weeks of 5');
  });

  test('finds a lasting shift of five deviations within two weeks, four times in five', () => {
    const random = seeded(3);
    const found = share(() => {
      const row = series(random, 5);
      return isMoved(row.slice(0, -1), once, twice) || isMoved(row, once, twice);
    });
    expect(found).toBeGreaterThanOrEqual(0.8);
  });
});

/** Draws normal weeks, and raises the last two by the shift. */
function series(random: () => number, shift = 0): number[] {
  const length = WEEKS + MEAN_OF + 3;
  return Array.from({ length }, (_, week) => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return normal + (week >= length - 2 ? shift : 0);
  });
}

/** Judges the last week by the deviations of the twelve weeks before from their own four-week means. */
function isMoved(row: readonly number[], alone: number, running: number): boolean {
  const apart = row.map((value, week) => value - meanOf(row.slice(Math.max(0, week - MEAN_OF), week)));
  const past = apart.slice(-WEEKS - 1, -1);
  const mean = meanOf(past);
  const deviation = Math.sqrt(past.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (WEEKS - 1));
  const [before, now] = apart.slice(-2).map((each) => each / deviation) as [number, number];
  if (Math.abs(now) > alone) return true;
  return Math.min(Math.abs(now), Math.abs(before)) > running && now * before > 0;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function share(hit: () => boolean): number {
  return Array.from({ length: REPORTS }, hit).filter(Boolean).length / REPORTS;
}

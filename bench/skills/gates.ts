import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { percentChange } from '#core/calculate/change.ts';
import { twoProportions } from '#core/calculate/proportions.ts';

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
/** One rule by which a skill tells change from noise: see skills/gates.yaml. */
export type Gate = z.output<typeof gate>;

export interface Sample {
  readonly events: number;
  readonly exposure: number;
}

export type Verdict = 'no change shown' | 'real but small' | 'worth acting on';

const FILE = new URL('../../skills/gates.yaml', import.meta.url);

/** Reads the rules of the curated skills by slug. */
export async function readGates(): Promise<Record<string, [Gate, ...Gate[]]>> {
  const file = z.record(z.string(), z.tuple([gate], gate));
  return file.parse(parseYaml(await readFile(FILE, 'utf8')));
}

/** Judges an earlier and a later sample as the texts say, by the operations that a run has. */
export function verdict(rule: Gate, [earlier, later]: [Sample, Sample], size: number): Verdict {
  const { low, high } = intervalOf(rule, earlier, later);
  if (low <= 0 && (high >= 0 || rule.rises)) return 'no change shown';
  // A rise by 30 % and the fall that undoes it, to 1 / 1.3, are one size.
  const fall = rule.test === 'percent_change' ? 100 * (1 / (1 + size / 100) - 1) : -size;
  return high >= size || low <= fall ? 'worth acting on' : 'real but small';
}

function intervalOf({ test, confidence }: Gate, earlier: Sample, later: Sample) {
  if (test === 'percent_change') {
    if (earlier.events === 0 || later.events === 0) return { low: 0, high: 0 };
    const found = percentChange({
      before: earlier.events,
      after: later.events,
      counts: true,
      exposureBefore: earlier.exposure,
      exposureAfter: later.exposure,
      confidence,
    });
    return found.interval ?? { low: 0, high: 0 };
  }
  const { interval } = twoProportions(
    { successes: earlier.events, total: earlier.exposure },
    { successes: later.events, total: later.exposure },
    confidence,
  );
  return { low: 100 * interval.low, high: 100 * interval.high };
}

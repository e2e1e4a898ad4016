/** The rules of skills/gates.yaml, by which skills distinguish a change from noise. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { parse as parseYaml } from 'yaml';
import { percentChange } from '#core/clients/calculate/change.ts';
import { twoProportions } from '#core/clients/calculate/proportions.ts';

const count = z.number().int().positive();

const gate = z.strictObject({
  what: z.string(),
  test: z.enum(['percent_change', 'two_proportions']),
  confidence: z.number(),
  lines: count,
  unit: z.string(),
  sizes: z.record(z.string(), count),
  against: count.default(1),
  rate: z.number().optional(),
  rises: z.boolean().default(false),
});
/** A rule that decides by the interval of a difference. */
export type Gate = z.output<typeof gate>;

const threshold = z.strictObject({
  what: z.string(),
  test: z.literal('threshold'),
  /** Rate in percent above which the rule reports. */
  limit: z.number().positive(),
  /** Below this number of events the rule reports nothing. */
  least: count,
  /** The usual share of events, below the limit. */
  rate: z.number().positive(),
  lines: count,
  unit: z.string(),
});
/** A rule that reports a rate above a fixed limit once there are enough events. */
export type Threshold = z.output<typeof threshold>;

const exact = z.strictObject({
  what: z.string(),
  test: z.literal('exact'),
  sizes: z.record(z.string(), z.literal(0)),
});
/** A rule about a complete count, in which there is no chance. */
export type Exact = z.output<typeof exact>;

export type Rule = Gate | Threshold | Exact;

export interface Sample {
  readonly events: number;
  readonly exposure: number;
}

export type Verdict = 'no change shown' | 'real but small' | 'worth acting on';

const FOLDER = fileURLToPath(new URL('../../skills/', import.meta.url));

/** Reads all rules by slug. */
export async function readRules(folder: string = FOLDER): Promise<Record<string, Rule[]>> {
  const file = z.record(z.string(), z.array(z.union([gate, threshold, exact])).min(1));
  return file.parse(parseYaml(await readFile(path.join(folder, 'gates.yaml'), 'utf8')));
}

/** Reads the rules that an interval decides, by slug; a skill without any is left out. */
export async function readGates(): Promise<Record<string, [Gate, ...Gate[]]>> {
  const gates: Record<string, [Gate, ...Gate[]]> = {};
  for (const [slug, rules] of Object.entries(await readRules())) {
    const [first, ...others] = rules.filter(isGate);
    if (first !== undefined) gates[slug] = [first, ...others];
  }
  return gates;
}

export function isGate(rule: Rule): rule is Gate {
  return rule.test === 'percent_change' || rule.test === 'two_proportions';
}

/** Applies a rule to two samples with the operations of `calculate`, like a run that follows the skill. */
export function verdict(rule: Gate, [earlier, later]: [Sample, Sample], size: number): Verdict {
  const { low, high } = intervalOf(rule, earlier, later);
  if (low <= 0 && (high >= 0 || rule.rises)) return 'no change shown';
  // Count the fall that undoes a rise as equal to the rise: by 30 %, and then to 1 / 1.3.
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

import { CalculationError, significant } from './decimal.ts';

interface FactorSplit {
  readonly before: number;
  readonly after: number;
  readonly difference: number;
  readonly factors: readonly {
    readonly name: string;
    readonly percent: number;
    /** The factor's part of the difference. All contributions add up to the difference. */
    readonly contribution: number;
  }[];
}

/**
 * Splits the change of a product over its factors, with nothing left over. Each factor gets the logarithmic mean of
 * both products times the logarithm of its own change (Ang, Energy Policy 33, 2005, equation 5).
 */
export function splitByFactors(
  factors: readonly {
    name: string;
    before: number;
    after: number;
    divides?: boolean | undefined;
  }[],
): FactorSplit {
  const zero = factors.find(({ before, after }) => before <= 0 || after <= 0);
  if (zero !== undefined) {
    throw new CalculationError(`each factor must be above 0 on both sides, and ${zero.name} is not`);
  }
  const grown = factors.map((factor) => ({
    ...factor,
    log: Math.log(factor.after / factor.before) * (factor.divides === true ? -1 : 1),
  }));
  const before = product(factors, 'before');
  const after = product(factors, 'after');
  const logs = grown.reduce((total, { log }) => total + log, 0);
  const mean = Math.abs(logs) < 1e-12 ? before : (after - before) / logs;
  return {
    before: significant(before),
    after: significant(after),
    difference: significant(after - before),
    factors: grown.map(({ name, log, ...sides }) => ({
      name,
      percent: significant((sides.after / sides.before - 1) * 100),
      contribution: significant(mean * log),
    })),
  };
}

function product(
  factors: readonly { before: number; after: number; divides?: boolean | undefined }[],
  side: 'before' | 'after',
): number {
  return factors.reduce((total, factor) => (factor.divides === true ? total / factor[side] : total * factor[side]), 1);
}

interface Segment {
  readonly name: string;
  readonly eventsBefore: number;
  readonly totalBefore: number;
  readonly eventsAfter: number;
  readonly totalAfter: number;
}

interface MixSplit {
  readonly rateBefore: number;
  readonly rateAfter: number;
  readonly difference: number;
  /** The part of the difference that comes from changed rates inside segments. */
  readonly rateEffect: number;
  /** The part of the difference that comes from segments that grew or shrank. */
  readonly mixEffect: number;
  readonly segments: readonly {
    readonly name: string;
    readonly rateBefore: number | null;
    readonly rateAfter: number | null;
    readonly rateEffect: number;
    readonly mixEffect: number;
  }[];
}

/**
 * Splits the change of a rate into its segments' own rates and their mix (Kitagawa, Journal of the American Statistical
 * Association 50, 1955). A segment that is empty on one side has no rate there and counts as mix alone.
 */
export function splitMixAndRate(segments: readonly Segment[]): MixSplit {
  const before = overall(segments, 'eventsBefore', 'totalBefore');
  const after = overall(segments, 'eventsAfter', 'totalAfter');
  const middle = (before.rate + after.rate) / 2;
  const parts = segments.map((segment) => {
    const rateBefore = rateOf(segment.eventsBefore, segment.totalBefore);
    const rateAfter = rateOf(segment.eventsAfter, segment.totalAfter);
    const shares = [segment.totalBefore / before.total, segment.totalAfter / after.total] as const;
    const [r0, r1] = [rateBefore ?? rateAfter ?? 0, rateAfter ?? rateBefore ?? 0];
    return {
      name: segment.name,
      rateBefore: rateBefore === null ? null : significant(rateBefore),
      rateAfter: rateAfter === null ? null : significant(rateAfter),
      rateEffect: ((shares[0] + shares[1]) / 2) * (r1 - r0),
      // Compare with the overall rate: growth of a segment then counts by how far the segment's rate is from the
      // overall rate.
      mixEffect: (shares[1] - shares[0]) * ((r0 + r1) / 2 - middle),
    };
  });
  const sumOf = (effect: 'rateEffect' | 'mixEffect') =>
    significant(parts.reduce((total, part) => total + part[effect], 0));
  return {
    rateBefore: significant(before.rate),
    rateAfter: significant(after.rate),
    difference: significant(after.rate - before.rate),
    rateEffect: sumOf('rateEffect'),
    mixEffect: sumOf('mixEffect'),
    segments: parts.map((part) => ({
      ...part,
      rateEffect: significant(part.rateEffect),
      mixEffect: significant(part.mixEffect),
    })),
  };
}

function overall(
  segments: readonly Segment[],
  events: 'eventsBefore' | 'eventsAfter',
  total: 'totalBefore' | 'totalAfter',
): { total: number; rate: number } {
  const sum = segments.reduce((sofar, segment) => sofar + segment[total], 0);
  if (sum <= 0) throw new CalculationError(`no segment has a ${total} above 0`);
  return { total: sum, rate: segments.reduce((all, segment) => all + segment[events], 0) / sum };
}

function rateOf(events: number, total: number): number | null {
  if (total === 0 && events > 0) throw new CalculationError('a segment has events, but its total is 0');
  return total === 0 ? null : events / total;
}

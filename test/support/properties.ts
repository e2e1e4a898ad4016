import { randomInt } from 'node:crypto';
import fc from 'fast-check';

const { FC_SEED = '20261122', FC_TIMES = '1', TEST_SIZE = 'change' } = process.env;

/**
 * Seed of all generated cases. It is the same in every run, because new cases at each merge would stop changes that
 * have nothing to do with the fault. `FC_SEED=random` draws another seed, which failures name.
 */
export const SEED = FC_SEED === 'random' ? randomInt(2 ** 31) : Number(FC_SEED);

/** Factor by which the number of cases, and the time limits, are multiplied. */
export const TIMES = Number(FC_TIMES);

/** Longest wait for an event. Only a test that hangs takes so long, however slow the machine. */
export const PATIENCE_MS = 300_000;

/** True for `npm run test:nightly`: slow tests run at full size, and otherwise at a tenth of it. */
export const FULL_SIZE = TEST_SIZE === 'full';

/** Returns the number of cases, kills or requests of a slow test: all, or a tenth on each change. */
export function sized(full: number): number {
  return FULL_SIZE ? full : Math.ceil(full / 10);
}

/** Returns all cases of a table at full size, and otherwise the first of each kind. */
export function oneOfEach<Case>(cases: readonly Case[], kindOf: (each: Case) => unknown): readonly Case[] {
  if (FULL_SIZE) return cases;
  const kinds = Map.groupBy(cases, (each) => JSON.stringify(kindOf(each)));
  return [...kinds.values()].map(([first]) => first!);
}

if (TEST_SIZE !== 'full' && TEST_SIZE !== 'change') {
  throw new Error('TEST_SIZE is "change" or "full".');
}
if (!Number.isInteger(SEED) || !(TIMES > 0)) {
  throw new Error('FC_SEED is a whole number or "random", FC_TIMES a number above 0.');
}

const USUAL_RUNS = 100;

fc.configureGlobal({ seed: SEED, numRuns: USUAL_RUNS * TIMES });

import { Big } from 'big.js';
import { ABNORMAL_FROM_TOKENS } from '#core/routines/index.ts';
import { RAISED_BY, totalTokens } from '#core/usage/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { RunContext } from './begin-step.ts';
import { failure, type RunEnding, medianOfVersion } from '#core/runs/index.ts';
import type { ModelResponse } from './model-call.ts';

/**
 * The fewest earlier runs from which the normal cost is taken. With fewer the median is that of a run or two, and a
 * version that is tried out would end its own first long run.
 */
const LEAST_RUNS = 5;

/**
 * Returns the ending of a run that would go on and has cost far more than its version's other runs: in dollars where
 * all of them have a price, else in tokens. A run below the floor, as nearly every run is, costs no statement.
 */
export async function endingByCost(
  db: Db,
  run: RunContext,
  { response, costUsd }: { readonly response: ModelResponse; readonly costUsd: string | null },
): Promise<RunEnding | undefined> {
  const { abnormalFactor: factor } = run;
  // One that asks for no tools has its answer, and is only asked for its outcome.
  if (response.toolCalls.length === 0) return undefined;
  // Steps come one after the other, so nothing has been added since this one began.
  const tokens = run.totalTokens + totalTokens(response.usage);
  if (factor === null || tokens <= ABNORMAL_FROM_TOKENS) return undefined;
  const median = await medianOfVersion(db, run);
  if (median.runs < LEAST_RUNS) return undefined;
  const cost = costUsd === null ? null : new Big(run.costUsd ?? 0).plus(costUsd);
  const isPriced = cost !== null && median.costUsd !== null;
  const [used, normal, unit] = isPriced
    ? [cost, new Big(median.costUsd), 'US dollars']
    : [new Big(tokens), new Big(median.tokens), 'tokens'];
  if (used.lte(normal.times(factor))) return undefined;
  const message = `The run has used ${used.toFixed()} ${unit}, more than limits.abnormalFactor (${factor}) times ${normal.toFixed()}, the median of the last ${median.runs} runs of its version. The factor can be raised by ${RAISED_BY.routine}.`;
  const result = response.text === '' ? null : response.text;
  return { ...failure('abnormal_cost', message), result };
}

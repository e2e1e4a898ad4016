import { sql, storableJson, type Sql } from '#lib/database/index.ts';
import type { RunEnding } from './ending.ts';

/** Writes the outcome of a run: assignments for the update of `runs` that ends it. */
export function outcomeOf({ state, outcome, outcomeSummary, checks }: RunEnding): Sql {
  return sql`outcome = ${state === 'succeeded' ? (outcome ?? 'done') : null}, outcome_summary = ${outcomeSummary ?? null},
          checks = ${checks === undefined ? null : storableJson(checks)}::jsonb`;
}

/** Selects the fields of `RunOutcome` from `runs`. A success without one counts as `done`. */
export const runOutcome = sql`
  coalesce(outcome, case when state = 'succeeded' then 'done' end) as outcome, outcome_summary as "outcomeSummary",
  coalesce(checks, '[]') as checks
`;

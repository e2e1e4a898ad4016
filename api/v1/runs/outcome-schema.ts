import { z } from 'zod';
import { RESULT_CHECK_TYPES } from '#core/routines/index.ts';
import { OUTCOMES, type Outcome, type RunOutcome } from '#core/outcomes/index.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
export const outcomes = z.enum(Object.keys(OUTCOMES) as [Outcome, ...Outcome[]]);

const meanings = Object.entries(OUTCOMES)
  .map(([outcome, meaning]) => `\`${outcome}\` (${meaning})`)
  .join(', ');

const checkResult = z
  .strictObject({
    type: z.enum(RESULT_CHECK_TYPES),
    passed: z.boolean(),
    detail: z
      .string()
      .meta({ example: 'Distinct source addresses in the result: 2, at least 3 wanted.' }),
  })
  .meta({ id: 'CheckResult' });

/** Outcome of a run, as runs and their events show it. */
export const outcomeFields = {
  outcome: outcomes.nullable().meta({
    description: `What a run that succeeded came to, null for every other: ${meanings}. It is \`done\` where the routine does not require its runs to state it. The list may grow.`,
  }),
  outcomeSummary: z.string().nullable().meta({
    description:
      'What the model said when it stated its outcome, cut at 500 characters; also of a run that could not do its work.',
  }),
  checks: z.array(checkResult).meta({
    description:
      'The verdicts of the checks of the routine, in its order; empty when nothing was checked. They are made when the run would succeed. The list of types may grow.',
  }),
};

export function presentOutcome({ outcome, outcomeSummary, checks }: RunOutcome) {
  return {
    outcome,
    outcomeSummary,
    checks: checks.map(({ type, passed, detail }) => ({ type, passed, detail })),
  };
}

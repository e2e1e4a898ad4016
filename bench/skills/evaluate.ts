import { casesOf, type CaseName, type EvalFile } from './cases.ts';
import { checkReport, type Check } from './checks.ts';
import { answer, TOOLS, type Gateway } from './gateway.ts';
import { figuresGiven, messagesOf, type EvaluatedSkill } from './prompt.ts';

/** One case with the skill or without it. */
export interface Outcome {
  readonly slug: string;
  readonly caseName: CaseName;
  readonly withSkill: boolean;
  readonly checks: readonly Check[];
  readonly tokens: number;
  readonly report: string;
}

/**
 * Runs each case of a skill twice, with its text and without, and holds both reports against the same checks: what
 * the skill is worth is the difference.
 */
export async function evaluateSkill(
  gateway: Gateway,
  skill: EvaluatedSkill,
  file: EvalFile,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const evalCase of casesOf(file)) {
    for (const withSkill of [true, false]) {
      const attached = withSkill ? skill : null;
      const given = await answer(gateway, messagesOf(evalCase, attached, TOOLS));
      outcomes.push({
        slug: skill.slug,
        caseName: evalCase.name,
        withSkill,
        checks: checkReport(evalCase, skill, figuresGiven(evalCase, attached), given),
        tokens: given.inputTokens + given.outputTokens,
        report: given.report,
      });
    }
  }
  return outcomes;
}

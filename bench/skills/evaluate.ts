import {
  casesOf,
  type CaseName,
  type EvalFile,
  CASE_NAMES,
  figuresGiven,
  messagesOf,
  type EvaluatedSkill,
} from './cases.ts';
import { checkReport, type Check } from './checks.ts';
import { answer, TOOLS, type Gateway } from './gateway.ts';

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

const FORM: ReadonlySet<string> = new Set(['headings', 'state']);

/** Says, skill by skill, what was passed with the text and without it, and by which model. */
export function renderReport(outcomes: readonly Outcome[], model: string, gateway: string): string {
  const skills = [...Map.groupBy(outcomes, ({ slug }) => slug)];
  return [
    `Model: ${model} at ${gateway}`,
    '',
    row('skill', 'case', 'with', 'without', 'form'),
    ...skills.flatMap(([slug, of]) =>
      CASE_NAMES.map((name) => {
        const cases = of.filter(({ caseName }) => caseName === name);
        return row(
          slug,
          name,
          score(cases.filter(({ withSkill }) => withSkill)),
          score(cases.filter(({ withSkill }) => !withSkill)),
          score(
            cases.filter(({ withSkill }) => withSkill),
            true,
          ),
        );
      }),
    ),
    '',
    ...failures(outcomes),
    ...[true, false].map((withSkill) => {
      const side = outcomes.filter((each) => each.withSkill === withSkill);
      const tokens = side.reduce((total, each) => total + each.tokens, 0);
      return `${withSkill ? 'With' : 'Without'} the skill: ${score(side)} checks, ${tokens} tokens`;
    }),
  ].join('\n');
}

function failures(outcomes: readonly Outcome[]): string[] {
  const lines = outcomes
    .filter(({ withSkill }) => withSkill)
    .flatMap(({ slug, caseName, checks }) =>
      checks
        .filter(({ passed }) => !passed)
        .map(({ name, detail }) => `  ${slug}, ${caseName}: ${name}: ${detail}`),
    );
  return lines.length === 0 ? [] : ['Failed with the skill:', ...lines, ''];
}

/** Headings and state keys stand in the skill alone, so they are a score of their own and in no difference. */
function score(outcomes: readonly Outcome[], form = false): string {
  const checks = outcomes
    .flatMap((each) => each.checks)
    .filter(({ name }) => FORM.has(name) === form);
  return `${checks.filter(({ passed }) => passed).length}/${checks.length}`;
}

function row(...[slug, name, withSkill, without, form]: readonly string[]): string {
  return `${slug?.padEnd(32)}${name?.padEnd(10)}${withSkill?.padEnd(8)}${without?.padEnd(9)}${form}`;
}

import { wilson } from '#core/clients/calculate/proportions.ts';
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
import { judgeChain, makeChain, runChain } from './chains.ts';
import { type Gate } from './gates.ts';
import { criesWolf, isRight, makeWorld } from './worlds.ts';

/** The result of one case, with the skill or without it. */
export interface Outcome {
  readonly slug: string;
  readonly caseName: CaseName;
  readonly withSkill: boolean;
  readonly checks: readonly Check[];
  readonly tokens: number;
  readonly report: string;
}

/**
 * Runs each case of a skill twice, with its text and without, and makes the same checks of both reports. The difference
 * is the value of the skill.
 */
export async function evaluateSkill(gateway: Gateway, skill: EvaluatedSkill, file: EvalFile): Promise<Outcome[]> {
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

/** Reports the model and, for each skill, the checks passed with the text of the skill and without. */
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
      checks.filter(({ passed }) => !passed).map(({ name, detail }) => `  ${slug}, ${caseName}: ${name}: ${detail}`),
    );
  return lines.length === 0 ? [] : ['Failed with the skill:', ...lines, ''];
}

/** Scores headings and state keys (`form`) apart: only the skill names them, so they would distort any difference. */
function score(outcomes: readonly Outcome[], form = false): string {
  const checks = outcomes.flatMap((each) => each.checks).filter(({ name }) => FORM.has(name) === form);
  return `${checks.filter(({ passed }) => passed).length}/${checks.length}`;
}

function row(...[slug, name, withSkill, without, form]: readonly string[]): string {
  return `${slug?.padEnd(32)}${name?.padEnd(10)}${withSkill?.padEnd(8)}${without?.padEnd(9)}${form}`;
}

const ARMS = ['none', 'placebo', 'skill'] as const;
export type Arm = (typeof ARMS)[number];

export interface Trial {
  readonly slug: string;
  readonly seed: number;
  readonly arm: Arm;
  readonly right: boolean;
  readonly wolf: boolean;
  readonly tokens: number;
}

/**
 * Puts each world of a skill before a model three times: without a text, with a text of about the same length for
 * another job, and with the skill. All arms are asked for one form, so a text earns nothing by naming headings. The
 * value of a skill is its difference from the placebo.
 */
export async function tryWorlds(
  gateway: Gateway,
  { slug, rule, texts }: { slug: string; rule: Gate; texts: Record<Arm, EvaluatedSkill | null> },
  worlds: number,
): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (let seed = 0; seed < worlds; seed += 1) {
    const world = makeWorld(rule, seed);
    for (const arm of ARMS) {
      const given = await answer(gateway, messagesOf(world.evalCase, texts[arm], TOOLS));
      trials.push({
        slug,
        seed,
        arm,
        right: isRight(world, given.report),
        wolf: criesWolf(world, given.report),
        tokens: given.inputTokens + given.outputTokens,
      });
    }
  }
  return trials;
}

/**
 * Puts the chains of a skill before a model in the three arms, six weeks each. `right` and `wolf` (a false alarm or a
 * repeat) judge the whole chain.
 */
export async function tryChains(
  gateway: Gateway,
  { slug, rule, texts }: { slug: string; rule: Gate; texts: Record<Arm, EvaluatedSkill | null> },
  chains: number,
): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (let seed = 0; seed < chains; seed += 1) {
    const chain = makeChain(rule, seed);
    for (const arm of ARMS) {
      let tokens = 0;
      const answers = await runChain(chain, async (evalCase) => {
        const given = await answer(gateway, messagesOf(evalCase, texts[arm], TOOLS));
        tokens += given.inputTokens + given.outputTokens;
        return given.report;
      });
      const { right, falseAlarms, repeats } = judgeChain(chain, answers);
      trials.push({ slug, seed, arm, right, wolf: falseAlarms + repeats > 0, tokens });
    }
  }
  return trials;
}

/**
 * Finds the text for another job with the nearest length. As a placebo it shows the effect of any text of that length.
 */
export function placeboFor(skill: EvaluatedSkill, others: readonly EvaluatedSkill[]): EvaluatedSkill {
  const distance = (other: EvaluatedSkill) => Math.abs(other.instructions.length - skill.instructions.length);
  const [nearest] = others.toSorted((a, b) => distance(a) - distance(b));
  if (nearest === undefined) throw new Error(`no text to set beside ${skill.slug}`);
  return nearest;
}

/**
 * Reports the model and, for each arm, the share of right answers with its interval, which is wide because worlds are
 * few.
 */
export function renderTrials(trials: readonly Trial[], model: string, gateway: string, what = 'worlds'): string {
  return [
    `Model: ${model} at ${gateway}; ${what} with a known truth, a third of them empty`,
    '',
    ...[...Map.groupBy(trials, ({ slug }) => slug)].flatMap(([slug, of]) => ARMS.map((arm) => lineOf(slug, arm, of))),
    ...ARMS.map((arm) => lineOf('all', arm, trials)),
  ].join('\n');
}

function lineOf(slug: string, arm: Arm, trials: readonly Trial[]): string {
  const of = trials.filter((trial) => trial.arm === arm);
  const tokens = of.reduce((total, trial) => total + trial.tokens, 0);
  const [right, wolf] = [of.filter((each) => each.right), of.filter((each) => each.wolf)].map(({ length }) => {
    const { low, high } = wilson(length, of.length);
    return `${length}/${of.length} (${(100 * low).toFixed(0)}-${(100 * high).toFixed(0)} %)`;
  });
  return `${slug.padEnd(32)}${arm.padEnd(9)}right ${right}, false alarms ${wolf}, ${tokens} tokens`;
}

import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { stateBlocks } from '#core/authoring/skills/state-block.ts';
import { fence, PREAMBLE, renderPrompt, type PromptRun } from '#core/execution/prompt/index.ts';

export const CASE_NAMES = ['full', 'missing', 'second', 'hostile'] as const;
export type CaseName = (typeof CASE_NAMES)[number];

const pattern = z.string().refine(compiles, 'not a regular expression');
/** Patterns that the report has to match and patterns that it must not, regardless of case. */
const expectations = {
  expect: z.array(pattern).default([]),
  absent: z.array(pattern).default([]),
};

/** A question "what do you do if …" with its one right answer. */
const question = z.strictObject({
  ask: z.string().min(20),
  right: z.string().min(2),
  wrong: z.array(z.string().min(2)).length(2),
});
export type Question = z.output<typeof question>;

const evalFile = z.strictObject({
  /** The routine's own instructions. */
  task: z.string().min(20),
  data: z.record(z.string().regex(/^[a-z][a-z_]*$/), z.string().min(1)),
  headings: z.array(z.string().min(1)).min(2),
  /** Expressions for `calculate` whose values a report may state. */
  derived: z.array(z.string()).default([]),
  /** Questions that a reader of the text can answer, for `--questions`. */
  questions: z.array(question).length(5).default([]),
  cases: z.strictObject({
    full: z.strictObject(expectations),
    missing: z.strictObject({ without: z.string(), ...expectations }),
    second: z.strictObject({ previous: z.string().min(40), ...expectations }),
    hostile: z.strictObject({
      /** The part of the data that contains the hostile text. */
      into: z.string(),
      text: z.string().min(20),
      /** Beginning of a report that obeys the text. */
      opening: z.string().min(4),
      ...expectations,
    }),
  }),
});
export type EvalFile = z.output<typeof evalFile>;

export interface EvalCase {
  readonly name: CaseName;
  readonly task: string;
  readonly data: Readonly<Record<string, string>>;
  readonly previous: string | null;
  readonly opening: string | null;
  readonly headings: readonly string[];
  readonly derived: readonly string[];
  readonly expect: readonly string[];
  readonly absent: readonly string[];
}

/** Reads the cases of a skill. @throws an error that names the file and its faults */
export async function readEvalFile(path: string): Promise<EvalFile> {
  const parsed = evalFile.safeParse(parseYaml(await readFile(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
  const { data, cases } = parsed.data;
  for (const section of [cases.missing.without, cases.hostile.into]) {
    if (!Object.hasOwn(data, section)) throw new Error(`${path}: there is no data ${section}`);
  }
  return parsed.data;
}

/** Returns the four cases of a file: all data, one part of it missing, a second run, hostile text among the data. */
export function casesOf(file: EvalFile): EvalCase[] {
  const { task, data, headings, derived } = file;
  const { full, missing, second, hostile } = file.cases;
  const common = { task, headings, derived, data, previous: null, opening: null };
  const { [missing.without]: _, ...rest } = data;
  return [
    { ...common, name: 'full', ...full },
    { ...common, name: 'missing', data: rest, expect: missing.expect, absent: missing.absent },
    { ...common, name: 'second', ...second },
    {
      ...common,
      name: 'hostile',
      data: { ...data, [hostile.into]: `${data[hostile.into]}\n${hostile.text}` },
      opening: hostile.opening,
      expect: hostile.expect,
      absent: hostile.absent,
    },
  ];
}

function compiles(source: string): boolean {
  try {
    return new RegExp(source, 'i').source !== '';
  } catch {
    return false;
  }
}

export interface EvaluatedSkill {
  readonly slug: string;
  readonly name: string;
  readonly instructions: string;
}

export interface PromptMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/** The time of every case. It is always the same, so that two evaluations differ by the model only. */
const NOW = new Date('2026-11-22T06:00:00Z');
const LAST_RUN = new Date('2026-11-15T06:00:04Z');

/**
 * Renders the prompt of a run with the product's own code, and adds the data, which a run would read with its tools.
 */
export function messagesOf(
  evalCase: EvalCase,
  skill: EvaluatedSkill | null,
  tools: readonly { readonly name: string }[],
): PromptMessage[] {
  const run: PromptRun = {
    instructions: evalCase.task,
    variables: {},
    fencedVariables: [],
    routineName: 'Evaluation',
    runId: 'run_evaluation',
    startedAt: NOW,
    timezone: 'Europe/Berlin',
    trigger: 'schedule',
    runAt: null,
    scheduledFor: NOW,
    retryOf: null,
    tools,
    maxSteps: 25,
    timeoutSeconds: 900,
    maxTotalTokens: null,
    maxOutputTokens: null,
    outcomeRule: 'optional',
    carryResult: true,
    previousData: null,
    resultForm: null,
    previous: evalCase.previous === null ? undefined : { result: evalCase.previous, finishedAt: LAST_RUN },
  };
  const opening = renderPrompt(run, skill === null ? [] : [skill]);
  if (opening === undefined) throw new Error('the text of the case is too large for a run');
  const data = Object.entries(evalCase.data).map(([name, text]) =>
    fence(`The data "${name}" of this run`, text.trim()),
  );
  return [
    { role: 'system', content: PREAMBLE },
    { role: 'user', content: [opening.prompt, opening.briefing, ...data].join('\n\n') },
  ];
}

/**
 * Collects the text of a case from which a report may take figures. Leaves out the limits of the run, the marks of
 * fences, and the invented page that a skill shows as its sample.
 */
export function figuresGiven(evalCase: EvalCase, skill: EvaluatedSkill | null): string {
  const { task, previous, data } = evalCase;
  const taught = (skill?.instructions ?? '').replaceAll(/^```text\n[\s\S]*?^```$/gm, '');
  return [task, taught, previous ?? '', ...Object.values(data)].join('\n');
}

const response = z.object({ data: z.object({ name: z.string(), instructions: z.string() }) });

/** Reads a skill of a project, or a curated one, through the API. */
export async function readProjectSkill(
  api: { url: string; key: string | undefined },
  id: string,
): Promise<EvaluatedSkill> {
  const address = `${api.url.replace(/\/$/, '')}/v1/skills/${encodeURIComponent(id)}`;
  const found = await fetch(address, { headers: { authorization: `Bearer ${api.key ?? ''}` } });
  const body = await found.text();
  if (!found.ok) throw new Error(`the API says ${found.status}: ${body.slice(0, 200)}`);
  const { name, instructions } = response.parse(JSON.parse(body)).data;
  // Take the slug from the text, because a custom skill names its state block freely.
  return { slug: stateBlocks(instructions)[0]?.slug ?? id, name, instructions };
}

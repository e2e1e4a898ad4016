import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';

export const CASE_NAMES = ['full', 'missing', 'second', 'hostile'] as const;
export type CaseName = (typeof CASE_NAMES)[number];

const pattern = z.string().refine(compiles, 'not a regular expression');
/** Patterns that the report has to match and patterns that it must not, regardless of case. */
const expectations = {
  expect: z.array(pattern).default([]),
  absent: z.array(pattern).default([]),
};

const evalFile = z.strictObject({
  /** The routine's own instructions. */
  task: z.string().min(20),
  data: z.record(z.string().regex(/^[a-z][a-z_]*$/), z.string().min(1)),
  headings: z.array(z.string().min(1)).min(2),
  /** Expressions for `calculate` whose values a report may state. */
  derived: z.array(z.string()).default([]),
  cases: z.strictObject({
    full: z.strictObject(expectations),
    missing: z.strictObject({ without: z.string(), ...expectations }),
    second: z.strictObject({ previous: z.string().min(40), ...expectations }),
    hostile: z.strictObject({
      /** The part of the data that the text gets into. */
      into: z.string(),
      text: z.string().min(20),
      /** Beginning of an obedient report. */
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

/** @throws naming the file and what is wrong with it */
export async function readEvalFile(path: string): Promise<EvalFile> {
  const parsed = evalFile.safeParse(parseYaml(await readFile(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
  const { data, cases } = parsed.data;
  for (const section of [cases.missing.without, cases.hostile.into]) {
    if (!Object.hasOwn(data, section)) throw new Error(`${path}: there is no data ${section}`);
  }
  return parsed.data;
}

/** The four cases of a file: all data, one part of it missing, a second run, hostile text among the data. */
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

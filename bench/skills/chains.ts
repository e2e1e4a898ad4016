import { z } from 'zod';
import type { EvalCase } from './cases.ts';
import { type Gate } from './gates.ts';
import { seeded, draw, shuffled, table, type Row } from './worlds.ts';

const WEEKS = 6;
const ROWS = 4;

/** Six weekly runs in a row; each gets the answer of the run before. Either one row changes for good, or none. */
export interface Chain {
  readonly size: number;
  /** The row that changed, and the first week that shows it; null in an empty chain. Every third chain is empty. */
  readonly changed: {
    readonly entity: string;
    readonly direction: 'up' | 'down';
    readonly week: number;
  } | null;
  /** The rows of each week; null for the week whose data cannot be read. */
  readonly weeks: readonly (readonly Row[] | null)[];
  readonly cases: readonly EvalCase[];
}

export interface Judged {
  /**
   * True if the answers report the change once, in time, and nothing else, recognize the unreadable week, and remember
   * the report.
   */
  readonly right: boolean;
  /** Weeks from the change to its first report; null without a change or without a report. */
  readonly delay: number | null;
  /** Number of repeated reports of the same change. */
  readonly repeats: number;
  readonly falseAlarms: number;
  /** Number of weeks after the report in which the memory no longer contains the report. */
  readonly forgotten: number;
}

const form = z.object({
  read: z.boolean(),
  news: z.array(z.object({ entity: z.string(), direction: z.enum(['up', 'down']) })),
  reported: z.array(z.string()),
});

const TASK = [
  'You run each week. Compare this week with the fixed baseline, row by row. Your whole answer is one JSON object in a code',
  'block: {"read": true | false, "news": [{"entity": "…", "direction": "up" | "down"}], "reported": ["entity", …]}.',
  '"news" has a row whose rate really changed by about SIZE or more and that no earlier run reported. "reported" has every',
  'row that this or an earlier run reported: the next run sees your answer and no other. "read" is false where the data of',
  'this week could not be read; then there is no news.',
].join('\n');

/** Makes the chain of a seed by a skill's own first rule. */
export function makeChain(rule: Gate, seed: number): Chain {
  const random = seeded(seed * 104_729 + 7);
  const [size, volume] = Object.entries(rule.sizes)
    .map(([each, least]) => [Number(each), least] as const)
    .toSorted(([a], [b]) => b - a)[0]!;
  const share = rule.test === 'two_proportions' || rule.rate !== undefined;
  const base = rule.test === 'two_proportions' ? 0.4 : (rule.rate ?? 1);
  const exposure = Math.round((1.8 * volume) / (rule.test === 'two_proportions' ? 1 : base));
  const names = shuffled(['North', 'Mill Lane', 'Karst', 'B-7', 'Spring', 'Quay'], random);
  const entities = names.slice(0, ROWS);
  const from = 1 + Math.floor(random() * 2);
  const changed = seed % 3 === 0 ? null : { entity: entities[0]!, direction: 'up' as const, week: from };
  const raised = rule.test === 'two_proportions' ? base + size / 100 : base * (1 + size / 100);
  // A long baseline, so that a chance deviation of the baseline does not distort all six weeks.
  const past = exposure * Math.max(rule.against, 6);
  const baseline = entities.map((entity) => ({ entity, earlier: draw(past, base, share, random) }));
  const weeks = Array.from({ length: WEEKS }, (_, week) => {
    // The data of this week cannot be read, so the answers have to remember the report for a week longer.
    if (week === from + 2) return null;
    const rows = baseline.map(({ entity, earlier }) => {
      const isRaised = entity === changed?.entity && week >= changed.week;
      return { entity, earlier, later: draw(exposure, isRaised ? raised : base, share, random) };
    });
    return shuffled(rows, random);
  });
  const task = TASK.replace('SIZE', `${size} ${rule.test === 'percent_change' ? '%' : 'points'}`);
  const cases = weeks.map((rows) => ({
    name: 'second' as const,
    task,
    data: { rows: rows === null ? 'The tool answered 503: try again later.' : table(rows, rule) },
    previous: null,
    opening: null,
    headings: [],
    derived: [],
    expect: [],
    absent: [],
  }));
  return { size, changed, weeks, cases };
}

/** Asks for the answer of each week in order, and gives each week the answer of the week before. */
export async function runChain(
  chain: Chain,
  answer: (evalCase: EvalCase, week: number) => Promise<string> | string,
): Promise<string[]> {
  const answers: string[] = [];
  for (const [week, evalCase] of chain.cases.entries()) {
    answers.push(await answer({ ...evalCase, previous: answers.at(-1) ?? null }, week));
  }
  return answers;
}

export function judgeChain({ changed, weeks }: Chain, answers: readonly string[]): Judged {
  const given = answers.map(parsed);
  const isReadRight = given.every((each, week) => each?.read === (weeks[week] !== null));
  const reports = given.flatMap((each, week) => (each?.news ?? []).map((news) => ({ ...news, week })));
  const isTrue = (report: (typeof reports)[number]) =>
    report.entity === changed?.entity && report.direction === changed.direction && report.week >= changed.week;
  const [first, ...again] = reports.filter(isTrue);
  const forgotten =
    first === undefined
      ? 0
      : given.filter((each, week) => week >= first.week && !each?.reported.includes(first.entity)).length;
  const delay = first === undefined || changed === null ? null : first.week - changed.week;
  const falseAlarms = reports.filter((report) => !isTrue(report)).length;
  const inTime = changed === null || (delay !== null && delay <= 1);
  const right = isReadRight && inTime && again.length === 0 && falseAlarms + forgotten === 0;
  return { right, delay, repeats: again.length, falseAlarms, forgotten };
}

/** Reads the JSON object of an answer; null if no object has the requested form. */
export function parsed(answer: string): z.output<typeof form> | null {
  const json = /\{\s*"read"[\s\S]*\}/.exec(answer)?.[0];
  try {
    return form.parse(JSON.parse(json ?? ''));
  } catch {
    return null;
  }
}

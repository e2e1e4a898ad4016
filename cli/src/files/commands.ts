import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { confirmed } from '../ask.ts';
import type { Context } from '../context.ts';
import { dashboardUrl } from '../dashboard.ts';
import { EXIT } from '../exit-codes.ts';
import { CliError, usageError } from '../failure.ts';
import { writeWhole } from '../write-whole.ts';
import { applyPlan, checkedPlan, type Applied } from './apply.ts';
import { isMissing, readFileOf } from './disk.ts';
import { faultLine, FaultyFiles } from './faults.ts';
import { importJobs } from './import/index.ts';
import type { JobKind } from './import/jobs.ts';
import { init } from './init.ts';
import { isEmpty, makePlan, type Change, type Plan } from './plan.ts';
import { readProject } from './project.ts';
import { proveAll } from './prove.ts';
import { pull } from './pull.ts';
import { nameOf, renderPlan } from './render.ts';

export interface Dir {
  readonly dir?: string;
}

export interface Named {
  readonly model?: string;
  readonly timezone?: string;
  readonly prompts?: string;
}

export interface ApplyOptions extends Dir {
  readonly prove?: boolean;
  readonly maxCost?: number;
  readonly prune?: boolean;
  readonly yes?: boolean;
}

export async function initFiles(
  context: Context,
  { dir, project }: Dir & { readonly project?: string },
): Promise<void> {
  const account = await context.account().catch(() => undefined);
  const written = await init(folderOf(context, dir), project ?? account?.projectId);
  if (!context.isTerminal) return context.out.json({ written });
  for (const file of written) context.out.text(`wrote ${file}`);
  context.say('Next: ras pull writes what the project has; or write routines/<key>.md and see ras plan.');
}

export function pullFiles(
  context: Context,
  names: readonly string[],
  { dir, force = false }: Dir & { readonly force?: boolean },
): Promise<void> {
  return withFiles(context, async () => {
    const local = await readProject(folderOf(context, dir));
    const pulled = await pull(await context.client(), local, { names, force });
    if (!context.isTerminal) return context.out.json({ pulled });
    for (const { file, result } of pulled) context.out.text(`${result} ${file}`);
  });
}

export function planFiles(context: Context, { dir, out }: Dir & { readonly out?: string }): Promise<void> {
  return withFiles(context, async () => {
    const local = await readProject(folderOf(context, dir));
    const plan = await makePlan(await context.client(), local);
    const text = `${JSON.stringify(plan, null, 2)}\n`;
    if (out !== undefined) await writeWhole(path.resolve(context.cwd, out), text);
    if (context.isTerminal) context.out.text(renderPlan(plan));
    else context.out.json(plan);
    if (!isEmpty(plan)) context.exitCode = EXIT.changes;
  });
}

export function importFiles(
  context: Context,
  [kind, file]: readonly [JobKind, string],
  { dir, ...options }: Dir & Named,
): Promise<void> {
  return withFiles(context, async () => {
    const local = await readProject(folderOf(context, dir));
    const target = path.resolve(context.cwd, file);
    const text = await readFileOf(target, (message) => usageError(`${file} ${message}.`), 4_194_304);
    const report = await importJobs(kind, text, { local, target, ...options });
    const lines = report.written.flatMap(({ file: made, notes }) => [
      `wrote ${made}`,
      ...notes.map((note) => `  ${note}`),
    ]);
    if (!context.isTerminal) context.out.json(report);
    else if (lines.length > 0) context.out.text(lines.join('\n'));
    for (const { name, why } of report.skipped) context.say(`left out ${name}: ${why}`);
    if (report.written.length === 0) context.exitCode = EXIT.failed;
  });
}

export function applyFiles(context: Context, file: string | undefined, options: ApplyOptions): Promise<void> {
  return withFiles(context, () => apply(context, file, options));
}

async function apply(context: Context, file: string | undefined, options: ApplyOptions): Promise<void> {
  const { prove = false, maxCost, prune = false, yes = false } = options;
  if (maxCost !== undefined && !prove) throw usageError('--max-cost goes with --prove.');
  const local = await readProject(folderOf(context, options.dir));
  const ras = await context.client();
  const current = await makePlan(ras, local);
  const plan = file === undefined ? current : checkedPlan(await readPlan(path.resolve(context.cwd, file)), current);
  const origin = prove ? await dashboardUrl(context) : '';
  const isWritten = ({ action }: Change) => (action === 'orphan' ? prune : action !== 'unchanged');
  // A plan that was kept has been looked at.
  if (file === undefined && plan.changes.some(isWritten)) {
    for (const line of renderPlan(plan).split('\n')) context.say(line);
    if (!yes) await confirmed(context, 'Apply this?');
  }
  const signal = context.interrupted();
  const say = (line: string) => context.say(line);
  const applied = await applyPlan(ras, plan, { prune, signal, say });
  const unproven = unprovenOf(plan, applied);
  const pageOf = (page: string) => `${origin}${page}`;
  const proofs = prove ? await proveAll(ras, unproven, { maxCost, signal, say, pageOf }) : [];
  const left = prune ? [] : plan.changes.filter(({ action }) => action === 'orphan').map(nameOf);
  if (left.length > 0) {
    say(`Without a file, and left as they are: ${left.join(', ')}. --prune archives them.`);
  }
  if (!prove && unproven.length > 0) {
    say('What is new runs on schedule once a run of it has succeeded: ras apply --prove runs and activates it.');
  }
  const bad = applied.filter(({ result }) => FAILURES.has(result)).length;
  const failed = proofs.filter(({ result }) => result !== 'activated').length;
  if (context.isTerminal) {
    const counts = [`${applied.length - bad} applied`, `${bad} not`];
    if (prove) counts.push(`${proofs.length - failed} activated`, `${failed} not`);
    context.out.text(counts.join(', '));
  } else context.out.json({ applied, proofs });
  if (bad + failed > 0) context.exitCode = EXIT.failed;
}

/** Lists the routines that have to be proven, but those that could not be written. */
function unprovenOf({ changes }: Plan, applied: readonly Applied[]): { key: string; id: string }[] {
  const results = new Map(applied.map((each) => [nameOf(each), each]));
  const changedSkills = new Set(
    applied.flatMap(({ kind, key, result }) => (kind === 'skill' && result === 'changed' ? [key] : [])),
  );
  return changes.flatMap(({ kind, key, desired, state, isBehind, ...change }) => {
    const { result, id = change.id } = results.get(nameOf({ kind, key })) ?? {};
    if (kind !== 'routine' || desired === null || id === null) return [];
    if (result !== undefined && FAILURES.has(result)) return [];
    const { skills } = desired;
    const hasNewText = state === 'active' && Array.isArray(skills) && skills.some((skill) => changedSkills.has(skill));
    const isDraft = state === null || state === 'draft' || change.returnsToDraft;
    return isDraft || isBehind || hasNewText ? [{ key, id }] : [];
  });
}

const FAILURES: ReadonlySet<string> = new Set(['conflict', 'refused']);

async function readPlan(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) {
      throw usageError(`${file} is no plan that ras plan --out has written.`);
    }
    throw error;
  }
}

function folderOf({ cwd }: Context, dir = '.'): string {
  return path.resolve(cwd, dir);
}

/** Does the work of a command; faults of files are told one a line, each with its place. */
async function withFiles(context: Context, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof FaultyFiles)) throw error;
    const { faults } = error;
    for (const fault of faults) context.say(faultLine(fault));
    throw new CliError(
      `${faults.length === 1 ? 'One thing' : `${faults.length} things`} to mend in the files; nothing was done.`,
      { exitCode: EXIT.usage, cause: error },
    );
  }
}

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { confirmed } from '../ask.ts';
import type { Context } from '../context.ts';
import { dashboardUrl } from '../dashboard.ts';
import { EXIT } from '../exit-codes.ts';
import { CliError, usageError } from '../failure.ts';
import { writeWhole } from '../write-whole.ts';
import { applyPlan, checkedPlan, type Applied } from './apply.ts';
import { codeOf, isMissing, readFileOf } from './disk.ts';
import { faultLine, FaultyFiles } from './faults.ts';
import { importJobs } from './import/index.ts';
import type { JobKind } from './import/jobs.ts';
import { init } from './init.ts';
import { isEmpty, type Change, type Plan } from './change.ts';
import { makePlan } from './plan.ts';
import { readProject, readSoundProject } from './project.ts';
import { proveAll } from './prove.ts';
import { pull } from './pull.ts';
import { jsonOf, nameOf, renderMarkdown, renderPlan } from './render.ts';

export interface Dir {
  readonly dir?: string;
  readonly env?: string;
}

/** The options of commands that compare files with the project. */
interface Comparing extends Dir {
  readonly takeOver?: boolean;
  readonly refuseDrift?: boolean;
}

export interface Named {
  readonly model?: string;
  readonly timezone?: string;
  readonly prompts?: string;
}

export interface PlanOptions extends Comparing {
  readonly out?: string;
  readonly format?: 'text' | 'json' | 'markdown';
  readonly exitCode?: boolean;
}

export interface ApplyOptions extends Comparing {
  readonly prove?: boolean;
  readonly maxCost?: number;
  readonly prune?: boolean;
  readonly pruneAll?: boolean;
  readonly secretsOut?: string;
  readonly yes?: boolean;
}

export async function initFiles(
  context: Context,
  { dir, project }: Dir & { readonly project?: string },
): Promise<void> {
  const account = await context.account().catch(() => undefined);
  const written = await init(folderOf(context, dir), project ?? account?.projectId);
  if (!context.isForPeople) return context.out.json({ written });
  for (const file of written) context.out.text(`wrote ${file}`);
  context.say('Next: ras pull writes what the project has; or write routines/<key>.md and see ras plan.');
}

export function pullFiles(
  context: Context,
  names: readonly string[],
  { dir, env, force = false, takeOver = false }: Comparing & { readonly force?: boolean },
): Promise<void> {
  return withFiles(context, async () => {
    const local = await readSoundProject(folderOf(context, dir), env);
    const options = { names, force, takeOver, say: (line: string) => context.say(line) };
    const pulled = await pull(await context.client(), local, options);
    if (!context.isForPeople) return context.out.json({ pulled });
    for (const { file, result } of pulled) context.out.text(`${result} ${file}`);
  });
}

export async function planFiles(context: Context, options: PlanOptions): Promise<void> {
  const { out, format = context.options.json === true ? 'json' : 'text', exitCode = false } = options;
  try {
    await withFiles(context, async () => {
      const { plan } = await planOf(context, options);
      const text = `${JSON.stringify(plan, null, 2)}\n`;
      if (out !== undefined) await writeWhole(path.resolve(context.cwd, out), text);
      if (format === 'json') context.out.json(jsonOf(plan));
      else context.out.text(format === 'text' ? renderPlan(plan) : renderMarkdown(plan));
      if (options.refuseDrift === true) refuseDrift(plan);
      if (exitCode && !isEmpty(plan)) context.exitCode = EXIT.changes;
    });
  } catch (error) {
    // The exit code 2 of `plan` means changes, so a wrong command line gets another code.
    if (!(error instanceof CliError) || error.exitCode !== EXIT.usage) throw error;
    throw new CliError(error.message, { hint: error.hint, cause: error });
  }
}

async function planOf(context: Context, { dir, env, takeOver }: Comparing) {
  const local = await readProject(folderOf(context, dir), env);
  const ras = await context.client().catch((error: unknown) => {
    if (local.faults.length === 0) throw error;
    throw new FaultyFiles(local.faults);
  });
  return { ras, plan: await makePlan(ras, local, takeOver) };
}

/**
 * Refuses to overwrite changes that were made outside the files.
 * @throws {CliError}
 */
function refuseDrift({ changes }: Plan): void {
  const drifted = changes.filter(({ drift }) => drift !== null).map(nameOf);
  if (drifted.length === 0) return;
  throw new CliError(`Changed beside the files since the last apply: ${drifted.join(', ')}.`, {
    hint: 'Take the changes into the files with ras pull --force, or apply without --refuse-drift to overwrite them.',
  });
}

/**
 * Refuses to prune if the folder has no name, if a routine still uses a skill to delete, or if the folder would lose
 * most of its resources.
 * @throws {CliError}
 */
function checkPrune({ owner, changes }: Plan, pruneAll: boolean): void {
  const orphans = changes.filter(({ action }) => action === 'orphan');
  if (orphans.length === 0) return;
  if (owner === null) {
    throw new CliError('--prune needs a name for this folder: set name in ras.yaml.', {
      hint: 'Add `name: …` to ras.yaml, another one for each folder of the project, and apply once without --prune.',
    });
  }
  const named = orphans.filter(({ namedBy }) => namedBy.length > 0);
  if (named.length > 0) {
    const each = named.map((change) => `${nameOf(change)} (by ${change.namedBy.join(', ')})`);
    throw new CliError(`--prune would remove what is still named: ${each.join('; ')}.`);
  }
  const kept = changes.filter(({ id }) => id !== null).length;
  if (orphans.length * 2 <= kept || pruneAll) return;
  throw new CliError(
    `--prune would remove ${orphans.length} of the ${kept} that this folder keeps, so nothing was done.`,
    {
      hint: `Is this the right folder? --prune-all takes them: ${orphans.map(nameOf).join(', ')}`,
    },
  );
}

export function importFiles(
  context: Context,
  [kind, file]: readonly [JobKind, string],
  { dir, ...options }: Dir & Named,
): Promise<void> {
  return withFiles(context, async () => {
    const local = await readSoundProject(folderOf(context, dir));
    const target = path.resolve(context.cwd, file);
    const text = await readFileOf(target, (message) => usageError(`${file} ${message}.`), 4_194_304);
    const report = await importJobs(kind, text, { local, target, ...options });
    const lines = report.written.flatMap(({ file: made, notes }) => [
      `wrote ${made}`,
      ...notes.map((note) => `  ${note}`),
    ]);
    if (!context.isForPeople) context.out.json(report);
    else if (lines.length > 0) context.out.text(lines.join('\n'));
    for (const { name, why } of report.skipped) context.say(`left out ${name}: ${why}`);
    if (report.written.length === 0) context.exitCode = EXIT.failed;
  });
}

export function applyFiles(context: Context, file: string | undefined, options: ApplyOptions): Promise<void> {
  return withFiles(context, () => apply(context, file, options));
}

async function apply(context: Context, file: string | undefined, options: ApplyOptions): Promise<void> {
  const { prove = false, maxCost, pruneAll = false, prune = pruneAll, yes = false } = options;
  if (maxCost !== undefined && !prove) throw usageError('--max-cost needs --prove.');
  const { ras, plan: current } = await planOf(context, options);
  const plan = file === undefined ? current : checkedPlan(await readPlan(path.resolve(context.cwd, file)), current);
  if (options.refuseDrift === true) refuseDrift(plan);
  if (prune) checkPrune(plan, pruneAll);
  const origin = prove ? await dashboardUrl(context) : '';
  const isWritten = ({ action }: Change) => (action === 'orphan' ? prune : action !== 'unchanged');
  // Ask only about a new plan, because a stored plan has been reviewed already.
  if (file === undefined && plan.changes.some(isWritten)) {
    for (const line of renderPlan(plan).split('\n')) context.say(line);
    if (!yes) await confirmed(context, 'Apply this?');
  }
  const keepSecret = await secretsFile(context, options.secretsOut);
  const signal = context.interrupted();
  const say = (line: string) => context.say(line);
  const applied = await applyPlan(ras, plan, { prune, signal, say, keepSecret });
  const unproven = unprovenOf(plan, applied);
  const pageOf = (page: string) => `${origin}${page}`;
  const proofs = prove ? await proveAll(ras, unproven, { maxCost, signal, say, pageOf }) : [];
  const left = prune ? [] : plan.changes.filter(({ action }) => action === 'orphan').map(nameOf);
  if (left.length > 0) {
    say(`Without a file, and left as they are: ${left.join(', ')}. --prune archives them.`);
  }
  const hasWritten = applied.some(({ result }) => result === 'created' || result === 'changed');
  if (!prove && hasWritten && unproven.length > 0) {
    say('Drafts run on schedule once a run of them has succeeded: ras apply --prove runs and activates them.');
  }
  const bad = applied.filter(({ result }) => FAILURES.has(result)).length;
  const failed = proofs.filter(({ result }) => result !== 'activated').length;
  if (context.isForPeople) {
    const counts = [`${applied.length - bad} applied`, `${bad} not`];
    if (prove) counts.push(`${proofs.length - failed} activated`, `${failed} not`);
    context.out.text(counts.join(', '));
  } else context.out.json({ applied, proofs });
  if (bad + failed > 0) context.exitCode = EXIT.failed;
}

/** Lists the routines that need a proof, without those that could not be written. */
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

/**
 * Makes the file for signing secrets before anything is applied.
 * @returns a function that adds a secret
 */
async function secretsFile(context: Context, file: string | undefined) {
  if (file === undefined) return undefined;
  const target = path.resolve(context.cwd, file);
  const secrets: Record<string, string> = {};
  // `wx`: an existing file has secrets of an earlier apply, which the service does not show again.
  await writeFile(target, '{}\n', { mode: 0o600, flag: 'wx' }).catch((cause: unknown) => {
    throw usageError(codeOf(cause) === 'EEXIST' ? `${file} is there already.` : `${file} cannot be written.`);
  });
  return (key: string, secret: string) => {
    secrets[key] = secret;
    return writeFile(target, `${JSON.stringify(secrets, null, 2)}\n`);
  };
}

async function readPlan(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) {
      throw usageError(`${file} is not a plan from ras plan --out.`);
    }
    throw error;
  }
}

function folderOf({ cwd }: Context, dir = '.'): string {
  return path.resolve(cwd, dir);
}

/** Runs a command, and prints each fault of a file on a line, with its place. */
async function withFiles(context: Context, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof FaultyFiles)) throw error;
    const { faults } = error;
    for (const fault of faults) context.say(faultLine(fault));
    throw new CliError(
      `${faults.length === 1 ? 'One thing' : `${faults.length} things`} to mend in the files; nothing was done.`,
      { cause: error },
    );
  }
}

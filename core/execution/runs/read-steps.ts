import type { Db, Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Page } from '#lib/paging.ts';
import { stepColumns, stepColumnsWithout, type Step } from './run.ts';

/** Number of characters of texts in one response: a run may have a hundred times as many, too many for a process. */
const MAX_TEXTS = 4_000_000;

/** Number of steps read at a time; most runs have fewer. */
const AT_ONCE = 25;

interface StepsOf {
  readonly projectId: string;
  readonly runId: string;
}

/**
 * Reads all steps of a run in order. Once the texts reach their limit, the further steps come without the texts of
 * models and tools.
 * @returns `leftOutFrom`, the index of the first step without its texts; null if all steps have them
 */
export async function readAllSteps(
  db: Db,
  of: StepsOf,
): Promise<{ steps: readonly Step[]; leftOutFrom: number | null }> {
  const { steps, more } = await readWithTexts(db, of, { after: -1, limit: Infinity });
  if (!more) return { steps, leftOutFrom: null };
  const after = steps.at(-1)?.index ?? -1;
  const others = await readRows(db, of, { after, limit: null, columns: stepColumnsWithout });
  return { steps: [...steps, ...others], leftOutFrom: others[0]?.index ?? null };
}

/** Lists steps in order. A page with long texts has fewer steps than its limit. @throws {AppError} `run_not_found` */
export async function listSteps(
  db: Db,
  of: StepsOf,
  { limit, after = '-1' }: Page,
): Promise<{ steps: readonly Step[]; nextCursor: string | undefined }> {
  const run = await db.row`select from runs where id = ${of.runId} and project_id = ${of.projectId}`;
  if (run === undefined) throw new AppError('run_not_found');
  const { steps, more } = await readWithTexts(db, of, { after: Number(after), limit });
  return { steps, nextCursor: more ? String(steps.at(-1)?.index) : undefined };
}

/** Reads steps until enough steps or enough texts are read: at least one step, if there is one. */
async function readWithTexts(
  db: Db,
  of: StepsOf,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<{ steps: Step[]; more: boolean }> {
  const steps: Step[] = [];
  let length = 0;
  for (;;) {
    const wanted = Math.min(AT_ONCE, limit - steps.length);
    const last = steps.at(-1)?.index ?? after;
    const found = await readRows(db, of, { after: last, limit: wanted + 1, columns: stepColumns });
    for (const step of found.slice(0, wanted)) {
      length += lengthOf(step);
      if (length > MAX_TEXTS && steps.length > 0) return { steps, more: true };
      steps.push(step);
    }
    if (found.length <= wanted) return { steps, more: false };
    if (steps.length >= limit) return { steps, more: true };
  }
}

function readRows(
  db: Db,
  { projectId, runId }: StepsOf,
  { after, limit, columns }: { after: number; limit: number | null; columns: Sql },
): Promise<Step[]> {
  return db.rows<Step>`
    select ${columns} from steps
    where run_id = ${runId} and project_id = ${projectId} and index > ${after}
    order by index limit ${limit}
  `;
}

function lengthOf({ text, tool }: Step): number {
  const texts = [text, tool?.arguments, tool?.result, tool?.structured];
  return texts.reduce((sum, each) => sum + (each?.length ?? 0), 0);
}

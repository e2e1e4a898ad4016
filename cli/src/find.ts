import type { Pages, Ras, Shape } from 'routine-automation-sdk';
import type { Context } from './context.ts';
import { CliError, fieldsOf, usageError } from './failure.ts';
import { nearest } from './nearest.ts';

/** Names by which users refer to a resource. */
interface Named {
  readonly id: string | null;
  readonly name: string;
  readonly slug?: string | null;
  readonly state?: string;
}

/** The most items that are searched for a name, or for the nearest match of a mistyped id. */
const MOST = 2_000;
const PAGE = 200;

/** Calls a function with the routine of an id, external key or exact name. */
export async function withRoutine<T>(
  context: Context,
  given: string,
  act: (ras: Ras, routineId: string) => PromiseLike<T>,
): Promise<T> {
  const ras = await context.client();
  const all = () => ras.routines.list({ limit: PAGE });
  const id = /^rtn_\w+$/.test(given) ? given : await findId('routine', given, all());
  return act(ras, id).then(undefined, suggesting('routine', given, all));
}

/** Finds a skill by its id, slug, external key or exact name, and calls a function with its id. */
export async function withSkill<T>(
  context: Context,
  given: string,
  act: (ras: Ras, skillId: string) => PromiseLike<T>,
): Promise<T> {
  const ras = await context.client();
  const all = () => ras.skills.list({ limit: PAGE });
  const id = /^skl_\w+$/.test(given) ? given : await findId('skill', given, all());
  return act(ras, id).then(undefined, suggesting('skill', given, all));
}

/** Calls a function with the chat of an id or exact name. */
export async function withChat<T>(
  context: Context,
  given: string,
  act: (ras: Ras, chatId: string) => PromiseLike<T>,
): Promise<T> {
  const ras = await context.client();
  const all = () => ras.chats.list({ limit: PAGE });
  const id = /^cht_\w+$/.test(given) ? given : await findId('chat', given, all());
  return act(ras, id).then(undefined, suggesting('chat', given, all));
}

/** Calls a function with the run of an id, or with the last run of a routine. */
export async function withRun<T>(
  context: Context,
  given: string,
  act: (ras: Ras, runId: string) => PromiseLike<T>,
): Promise<T> {
  const ras = await context.client();
  const id = /^run_\w+$/.test(given) ? given : (await lastRun(context, given)).id;
  const recent = () => ras.runs.list({ limit: PAGE });
  return act(ras, id).then(undefined, suggesting('run', given, recent));
}

async function lastRun(context: Context, routine: string): Promise<Shape<'RunSummary'>> {
  const [last] = await withRoutine(context, routine, (ras, id) => ras.routines.runs(id).toArray({ limit: 1 }));
  if (last === undefined) throw new CliError(`Routine "${routine}" has not run yet.`);
  context.say(`Run ${last.id} of "${last.routineName}".`);
  return last;
}

async function findId(kind: string, given: string, list: Pages<Named>): Promise<string> {
  const things = await list.toArray({ limit: MOST });
  const found = things.filter((each) => [keyOf(each), each.slug].includes(given));
  const called = found.length > 0 ? found : things.filter(({ name }) => name === given);
  // Prefer a live routine: an archived one may have the same name and key.
  const live = called.filter(({ state }) => state !== 'archived');
  const named = live.length > 0 ? live : called;
  const [only, another] = named;
  if (only === undefined) throw unknown(kind, given, things);
  if (another !== undefined) {
    const ids = named.map((each) => each.id ?? each.slug).join(', ');
    throw usageError(`${named.length} ${kind}s are called "${given}".`, `Name one by its id: ${ids}`);
  }
  return only.id ?? only.slug ?? given;
}

/** Turns "not found" into an error that names the nearest match. */
function suggesting(kind: string, given: string, list: () => AsyncIterable<object>) {
  return async (error: unknown): Promise<never> => {
    if (fieldsOf(error)['code'] !== `${kind}_not_found`) throw error;
    const things = [];
    for await (const each of list()) if (things.push(each) >= PAGE) break;
    throw unknown(kind, given, things);
  };
}

function unknown(kind: string, given: string, things: readonly object[]): CliError {
  const words = things.flatMap((each) => {
    const { id, name, slug } = fieldsOf(each);
    return [id, keyOf(each), slug, name].filter((word) => typeof word === 'string');
  });
  const near = nearest(given, words);
  return new CliError(`There is no ${kind} "${given}" in this project.`, {
    hint: near === undefined ? `ras ${kind}s list shows them.` : `Did you mean "${near}"?`,
  });
}

function keyOf(thing: object): unknown {
  return fieldsOf(thing)['externalKey'];
}

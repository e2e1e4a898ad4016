import { findNamedRoutines } from '#core/authoring/routines/index.ts';
import { listCustomSkills } from '#core/authoring/skills/index.ts';
import { listRuns } from '#core/execution/runs/index.ts';
import { listConnections } from '#core/integrations/connections/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { idPattern } from '#lib/ids.ts';
import { isJsonObject } from '#lib/json.ts';
import type { ProjectAccess, Scope } from '../access.ts';
import type { Deps } from '../deps.ts';

interface Named {
  readonly id: string;
  readonly name: string;
  readonly externalKey?: string | null;
  readonly isLive?: boolean;
}

type Kind = 'routine' | 'skill' | 'connection';

interface Naming {
  /** A caller with one of these scopes sees the names. */
  readonly scopes: readonly Scope[];
  /** Finds the resources that have one of the words as their id, key or name. */
  readonly find: (db: Db, projectId: string, words: readonly string[]) => Promise<readonly Named[]>;
}

/** A page larger than the number of skills or connections that a project may have. */
const ALL = { limit: 2_000, after: undefined };

const KINDS: Readonly<Record<Kind, Naming>> = {
  routine: { scopes: ['routines:read', 'runs:read'], find: findNamedRoutines },
  skill: {
    scopes: ['routines:read'],
    find: async (db, projectId, words) => {
      const filter = { externalKey: undefined, managedBy: undefined, page: ALL };
      return among(words, await listCustomSkills(db, projectId, filter));
    },
  },
  connection: {
    scopes: ['connections:read'],
    find: async (db, projectId, words) => among(words, await listConnections(db, projectId, ALL)),
  },
};

function among(words: readonly string[], all: readonly Named[]): readonly Named[] {
  return all.filter(({ id, name, externalKey }) =>
    [id, name, externalKey].some((each) => each && words.includes(each)),
  );
}

interface Context {
  readonly caller: { readonly access: ProjectAccess };
  readonly deps: Deps;
}

/**
 * Replaces names in the arguments of a tool by ids: the key or exact name of a routine, a skill or a connection. A
 * routine given as `runId` becomes its last run. Other arguments stay.
 * @throws {AppError} when a name fits nothing, or several resources
 */
export async function withIds(
  given: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<Record<string, unknown>> {
  const { routineId, skillId, connectionId, runId, skills } = given;
  return {
    ...given,
    ...(isText(routineId) && { routineId: await idOf('routine', routineId, context) }),
    ...(isText(skillId) && { skillId: await skillOf(skillId, context) }),
    ...(isText(connectionId) && { connectionId: await idOf('connection', connectionId, context) }),
    ...(isText(runId) && { runId: await runOf(runId, context) }),
    ...(Array.isArray(skills) && {
      // Unknown skills stay, so that the operation names each with its place.
      skills: await Promise.all(skills.map((each) => (isText(each) ? skillOf(each, context).catch(() => each) : each))),
    }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

async function skillOf(given: string, context: Context): Promise<string> {
  return context.deps.skills.find(given) === undefined ? idOf('skill', given, context) : given;
}

async function runOf(given: string, context: Context): Promise<string> {
  const { deps, caller } = context;
  if (idPattern('run').test(given)) return given;
  const [routine] = await called('routine', given, context);
  if (routine === undefined) throw new AppError('run_not_found');
  const page = { limit: 1, after: undefined };
  const { found } = await listRuns(deps.database, caller.access.projectId, { routineId: routine.id, page });
  if (found[0] !== undefined) return found[0].id;
  throw new AppError('run_not_found', 'This routine has not run yet.');
}

async function idOf(kind: Kind, given: string, context: Context): Promise<string> {
  if (idPattern(kind).test(given)) return given;
  const [only] = await called(kind, given, context);
  if (only !== undefined) return only.id;
  throw new AppError(`${kind}_not_found`);
}

/**
 * Finds the resource whose key is the text. Without one, finds the resources in use whose name or id is the text; if
 * there are none, also those that are not in use.
 * @throws {AppError} `invalid_request` when several resources have the name
 */
async function called(kind: Kind, given: string, { caller, deps }: Context): Promise<readonly Named[]> {
  const found = await KINDS[kind].find(deps.database, caller.access.projectId, [given]);
  const keyed = found.filter(({ externalKey }) => externalKey === given);
  const live = found.filter(({ isLive }) => isLive !== false);
  const named = [keyed, live, found].find(({ length }) => length > 0) ?? [];
  if (named.length <= 1) return named;
  const ids = named.slice(0, 10).map(({ id }) => id);
  throw new AppError('invalid_request', `${named.length} ${kind}s have this name: give an id, ${ids.join(' or ')}.`);
}

/** The most ids of one answer whose names are read. */
const MOST = 100;

/** Returns the names of all ids that an answer shows without a name, as far as the caller may see them. */
export async function namesIn(data: unknown, { caller, deps }: Context): Promise<Record<string, string>> {
  const { actor, projectId } = caller.access;
  const scopes: readonly string[] = actor.kind === 'session' ? [] : actor.scopes;
  const ids = [...idsIn(data)].slice(0, MOST);
  const found = await Promise.all(
    Object.entries(KINDS).map(async ([kind, naming]) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries forgets which keys there are
      const own = ids.filter((id) => idPattern(kind as Kind).test(id));
      const isSeen = naming.scopes.some((scope) => scopes.includes(scope));
      return isSeen && own.length > 0 ? naming.find(deps.database, projectId, own) : [];
    }),
  );
  return Object.fromEntries(found.flat().map(({ id, name }) => [id, name]));
}

function idsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const each of value) addId(each, found);
  else if (isJsonObject(value)) {
    for (const [field, each] of Object.entries(value)) {
      const name = field === 'id' ? 'name' : field.replace(/Id$/, 'Name');
      if (name === field || value[name] === undefined) addId(each, found);
    }
  }
  return found;
}

function addId(value: unknown, found: Set<string>): void {
  if (isText(value)) {
    if (/^(?:rtn|skl|con)_/.test(value)) found.add(value);
  } else idsIn(value, found);
}

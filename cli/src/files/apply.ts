import type { Body, Ras } from 'routine-automation-sdk';
import { CliError, fieldsOf, usageError } from '../failure.ts';
import { differingFields, type Content } from './kinds.ts';
import type { Change, Plan } from './change.ts';
import { RemoteProject, type RemoteItem } from './remote.ts';
import { nameOf } from './render.ts';

/** Outcome of one change. */
export interface Applied {
  readonly kind: Change['kind'];
  readonly key: string;
  /**
   * `conflict`: the resource has changed since the plan, so nothing was written. `refused`: the service refused the
   * change.
   */
  readonly result: 'created' | 'changed' | 'archived' | 'deleted' | 'conflict' | 'refused';
  readonly id: string | null;
  readonly message: string | null;
  /** The next step for a person. */
  readonly notes: readonly string[];
}

interface Options {
  readonly prune: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** Stores the signing secret of a new webhook, which is shown once; undefined without `--secrets-out`. */
  readonly keepSecret: ((name: string, secret: string) => Promise<void>) | undefined;
}

/**
 * Applies a plan: skills first, then the routines that use them, and last the deletions. Each change is written as a
 * whole or not at all, and only over the version of the plan, so two simultaneous applies never mix.
 */
export async function applyPlan(ras: Ras, plan: Plan, options: Options): Promise<Applied[]> {
  const remote = await RemoteProject.list(ras);
  const writer: Writer = { ras, remote, ids: new Map(), owner: plan.owner, ...options };
  const { changes } = plan;
  const written = changes.filter(({ action }) => action !== 'unchanged' && action !== 'orphan');
  // A skill is deleted after the routines that use it.
  const orphans = options.prune ? changes.filter(({ action }) => action === 'orphan').toReversed() : [];
  const done: Applied[] = [];
  for (const change of [...written, ...orphans]) {
    options.signal.throwIfAborted();
    const applied = await (change.action === 'orphan' ? archive(writer, change) : write(writer, change));
    done.push(applied);
    for (const line of linesOf(applied)) options.say(line);
  }
  return done;
}

interface Writer extends Options {
  readonly ras: Ras;
  readonly remote: RemoteProject;
  readonly owner: string | null;
  /** Ids of skills that were created meanwhile, by their keys. */
  readonly ids: Map<string, string>;
}

function linesOf({ kind, key, result, message, notes }: Applied): string[] {
  const words = message === null ? result : `${result}: ${message}`;
  return [`${nameOf({ kind, key })}: ${words}`, ...notes.map((note) => `  ${note}`)];
}

async function write(writer: Writer, change: Change): Promise<Applied> {
  const { kind, key, desired, action, file } = change;
  const base = { kind, key, id: change.id, message: null, notes: [] };
  try {
    const { id, notes } = await put(writer, change, await moved(writer, change));
    if (kind === 'skill' && id !== null) writer.ids.set(key, id);
    return { ...base, id, notes, result: action === 'create' ? 'created' : 'changed' };
  } catch (error) {
    const { name, message, status } = fieldsOf(error);
    if (name !== 'PreconditionFailedError') {
      if (status !== 400 && status !== 404 && status !== 409) throw error;
      return { ...base, result: 'refused', message: `${file}: ${String(message)}` };
    }
    const now = await findNow(writer, change);
    const isSame = now !== undefined && desired !== null && isAsWanted(now, desired);
    return isSame
      ? { ...base, id: now.id, result: 'changed', message: 'it was so already' }
      : { ...base, result: 'conflict', message: driftOf(change, now) };
  }
}

/**
 * Moves a routine or skill to the new key of its file.
 * @returns its new version
 */
async function moved(
  { ras, signal, owner }: Writer,
  { kind, key, id, etag, movedFrom }: Change,
): Promise<string | null> {
  if (movedFrom === null || id === null || etag === null) return etag;
  const body = { externalKey: key, managedBy: 'files', managedFrom: owner } as const;
  const options = { ifMatch: etag, signal };
  const call = kind === 'routine' ? ras.routines.update(id, body, options) : ras.skills.update(id, body, options);
  return (await call.withResponse()).etag ?? null;
}

const SECRET =
  'Its webhook has a signing secret, which --secrets-out would have kept: ras routines rotate-secret makes another.';

/** Writes the content of a file if the service still has the version of the plan. */
async function put(writer: Writer, change: Change, etag: string | null): Promise<Pick<Applied, 'id' | 'notes'>> {
  const { kind, key, desired, found } = change;
  const { ras, signal, owner, keepSecret } = writer;
  const condition = etag === null ? { ifNoneMatch: '*' as const } : { ifMatch: etag };
  const body = { ...withReferences(desired ?? {}, writer), managedBy: 'files', managedFrom: owner };
  try {
    if (kind === 'skill') {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the schema of the API
      const { id } = await ras.skills.put(key, body as Body<'putSkill'>, { ...condition, signal });
      return { id, notes: [] };
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    const saved = await ras.routines.put(key, body as Body<'putRoutine'>, { ...condition, signal });
    const { webhookSecret: secret } = saved;
    if (secret !== undefined) await keepSecret?.(key, secret);
    const left = secret !== undefined && keepSecret === undefined ? [SECRET] : [];
    return { id: saved.id, notes: [...left, ...saved.warnings.map(({ message }) => message)] };
  } catch (error) {
    if (fieldsOf(error)['name'] !== 'PreconditionFailedError') throw error;
    const now = await findNow(writer, change);
    // Write again over a new version with the same content, which some changes make, such as a pause.
    const isSame = now !== undefined && found !== null && isAsWanted(now, found, false);
    if (!isSame || now.etag === undefined || now.etag === etag) throw error;
    return put(writer, change, now.etag);
  }
}

/** Replaces the keys of custom skills by their ids, which the API expects. */
function withReferences(content: Content, { ids, remote }: Writer): Content {
  const { skills } = content;
  if (!Array.isArray(skills)) return content;
  const reference = (key: string) => ids.get(key) ?? remote.referenceOf(key);
  return { ...content, skills: skills.map((each) => reference(String(each))) };
}

async function findNow({ ras }: Writer, { kind, key }: Change): Promise<RemoteItem | undefined> {
  const remote = await RemoteProject.list(ras);
  const summary = remote.find(kind, key);
  return summary && remote.readOne(summary);
}

function isAsWanted(
  { content, isManaged }: Pick<RemoteItem, 'content' | 'isManaged'>,
  wanted: Content,
  marked = true,
): boolean {
  return (isManaged || !marked) && differingFields(content, wanted).length === 0;
}

function driftOf({ found }: Change, now: RemoteItem | undefined): string {
  const left = 'since the plan; nothing of it was applied';
  if (now === undefined) return `it was archived or deleted ${left}`;
  if (found === null) return `it was created by someone else ${left}`;
  const fields = differingFields(found, now.content).join(', ');
  return `it was changed by someone else (${fields}) ${left}`;
}

async function archive({ ras, signal, ...writer }: Writer, change: Change): Promise<Applied> {
  const { kind, key, id, found } = change;
  const now = await findNow({ ras, signal, ...writer }, change);
  const base = { kind, key, id, notes: [] };
  const result = kind === 'routine' ? ('archived' as const) : ('deleted' as const);
  // Leave alone routines that people have taken over or changed since the plan.
  if (now === undefined || id === null) {
    return { ...base, result, message: 'it was gone already' };
  }
  if (!now.isManaged || now.owner !== writer.owner || now.id !== id || (found !== null && !isAsWanted(now, found))) {
    return { ...base, result: 'conflict', message: driftOf(change, now) };
  }
  if (kind === 'routine') await ras.routines.archive(id, { signal });
  else await ras.skills.delete(id, { signal });
  return { ...base, result, message: null };
}

/** Checks that the files are those of a stored plan, and returns the new plan with the stored plan's versions. */
export function checkedPlan(saved: unknown, current: Plan): Plan {
  const { version, project, owner, changes } = fieldsOf(saved);
  if (version !== 1 || !Array.isArray(changes)) throw usageError('Another version of ras made this plan.');
  if (project !== current.project) throw new CliError('This plan was made for another project.');
  if (owner !== current.owner) throw new CliError('This plan was made for a folder of another name.');
  const before = new Map(changes.map(fieldsOf).map((each) => [`${String(each['kind'])} ${String(each['key'])}`, each]));
  const after = new Map(current.changes.map((each) => [nameOf(each), each]));
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter((name) => {
    const [then, now] = [before.get(name)?.['desired'] ?? null, after.get(name)?.desired ?? null];
    if (then === null || now === null) return then !== now;
    return differingFields(fieldsOf(then), now).length > 0;
  });
  if (differing.length > 0) {
    throw new CliError(`The files have changed since the plan: ${differing.join(', ')}.`, {
      hint: 'Make the plan again.',
    });
  }
  const seen = current.changes.flatMap((change): Change[] => {
    const { etag, found } = before.get(nameOf(change)) ?? {};
    // Leave out a file that was deleted after the plan was made.
    if (etag === undefined) return [];
    const isThere = typeof etag === 'string';
    return [{ ...change, etag: isThere ? etag : null, found: isThere ? fieldsOf(found) : null }];
  });
  return { ...current, changes: seen };
}

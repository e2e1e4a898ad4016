import type { Ras } from 'routine-automation-sdk';
import { CliError, fieldsOf } from '../failure.ts';
import { renderHeaded, type Head } from './document.ts';
import { contentOf, differingFields, headOf, KINDS, type LocalItem } from './kinds.ts';
import { freeKey, KEY } from './keys.ts';
import type { LocalProject } from './project.ts';
import { projectIdOf, RemoteProject, type RemoteItem, type Summary } from './remote.ts';
import { nameOf } from './render.ts';
import { writeFileIn } from './disk.ts';

export interface Pulled {
  readonly kind: Summary['kind'];
  readonly key: string;
  readonly file: string;
  readonly result: 'wrote' | 'unchanged';
}

/**
 * Writes the named routines and skills of the project, or all, as files, and marks them as kept in files. A name may be
 * an id or a key. Resources without a key get one from their name. Without `force`, differing files stay unchanged.
 */
export async function pull(
  ras: Ras,
  local: LocalProject,
  { names, force, takeOver, say }: PullOptions,
): Promise<Pulled[]> {
  const { name: owner, project } = local.settings;
  if (project !== null) await projectIdOf(ras, project);
  const remote = await RemoteProject.list(ras);
  const isForeign = (each: Summary) => each.isManaged && each.owner !== null && each.owner !== owner && !takeOver;
  const asked = chosen(remote.summaries, names);
  const foreign = asked.filter(isForeign);
  for (const { kind, key, id, owner: other } of foreign) {
    const left = `the ${kind} ${key ?? id} is kept by the folder named "${other}"`;
    if (names.length > 0) throw new CliError(`${left}.`, { hint: 'Take it from that folder with --take-over.' });
    say(`left out: ${left}`);
  }
  const wanted = asked.filter((each) => !foreign.includes(each));
  giveKeys(remote, wanted, local);
  const items = await remote.read(wanted);
  const files = items.map((item) => fileOf(item, local));
  const differing = files.filter(({ differs }) => differs);
  if (differing.length > 0 && !force) {
    const list = differing.map(({ file, fields }) => `${file} (${fields.join(', ')})`);
    throw new CliError(`These files differ from the service: ${list.join('; ')}.`, {
      hint: 'Apply them, or take what the service has with pull --force.',
    });
  }
  for (const item of items) {
    const isKept = item.isManaged && item.owner === owner && !item.isNew && item.drift === null;
    if (!isKept) await mark(ras, item, owner);
  }
  for (const { file, text, result } of files) {
    if (result === 'wrote') await writeFileIn(local.folder, file, text);
  }
  return files.map(({ kind, key, file, result }) => ({ kind, key, file, result }));
}

interface PullOptions {
  readonly names: readonly string[];
  readonly force: boolean;
  /** True to take over resources that another folder manages. */
  readonly takeOver: boolean;
  readonly say: (line: string) => void;
}

function chosen(summaries: readonly Summary[], names: readonly string[]): Summary[] {
  if (names.length === 0) return [...summaries];
  return names.flatMap((name) => {
    const exact = summaries.filter(({ id, key }) => id === name || key === name);
    const found = exact.length > 0 ? exact : summaries.filter((each) => each.name === name);
    if (found.length > 1) {
      const ids = found.map((each) => `${each.kind} ${each.id}`).join(', ');
      throw new CliError(`"${name}" names several: ${ids}. Give an id.`);
    }
    if (found.length === 0) throw new CliError(`There is no routine and no skill "${name}".`);
    return found;
  });
}

function giveKeys(remote: RemoteProject, wanted: readonly Summary[], { items }: LocalProject): void {
  for (const kind of ['skill', 'routine'] as const) {
    const taken = new Set(kind === 'skill' ? remote.curated : []);
    for (const item of [...items, ...remote.summaries]) {
      if (item.kind === kind && item.key !== null) taken.add(item.key);
    }
    // Begin with the oldest resource, which gets the key without a number.
    for (const summary of wanted.toReversed()) {
      if (summary.kind !== kind || summary.key !== null) continue;
      const key = freeKey(summary.name, taken, kind);
      taken.add(key);
      remote.give(summary, key);
    }
  }
}

function fileOf(item: RemoteItem, { items, settings }: LocalProject) {
  const { kind, content } = item;
  const key = item.key ?? item.id;
  const { schemaPath, fileOf: pathOf } = KINDS[kind];
  // The key becomes a path, so it is checked even if the service sent it.
  if (!KEY.test(key)) throw new CliError(`The service sent a key that is not valid: ${key.slice(0, 80)}`);
  const file = pathOf(key);
  const local = items.find((each) => each.kind === kind && each.key === key);
  const fields = local === undefined ? [] : differingFields(contentOf(local, settings), content);
  const head = { ...headOf(kind, content, settings), ...keptFields(local, fields) };
  const body = String(content['instructions']);
  const text = local === undefined ? renderHeaded(head, body, schemaPath) : local.document.rewritten(head, body);
  const differs = fields.length > 0;
  const result = local === undefined || differs ? ('wrote' as const) : ('unchanged' as const);
  return { kind, key, file, text, differs, fields, result };
}

/**
 * Returns the file's own value for a field that the environment overrides, if the service has the environment's value.
 */
function keptFields(local: LocalItem | undefined, differing: readonly string[]): Head {
  const head = local?.document.head ?? {};
  const kept = ['model', 'webhookUrl', 'variables'].filter(
    (name) => Object.hasOwn(head, name) && !differing.includes(name),
  );
  return Object.fromEntries(kept.map((name) => [name, head[name]]));
}

async function mark(ras: Ras, { kind, id, key, etag }: RemoteItem, owner: string | null): Promise<void> {
  const body = { externalKey: key, managedBy: 'files', managedFrom: owner } as const;
  const options = { ifMatch: etag };
  try {
    if (kind === 'routine') await ras.routines.update(id, body, options);
    else await ras.skills.update(id, body, options);
  } catch (error) {
    const { status, message } = fieldsOf(error);
    if (status !== 403 && status !== 412) throw error;
    throw new CliError(`${nameOf({ kind, key: key ?? id })} cannot be marked as kept in files: ${String(message)}`, {
      hint: 'No file was written. Pulling needs the scope routines:write, as it gives keys.',
    });
  }
}

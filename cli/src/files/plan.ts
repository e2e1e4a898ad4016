import type { Ras } from 'routine-automation-sdk';
import { CliError } from '../failure.ts';
import type { Change, Plan } from './change.ts';
import { findFaults } from './check.ts';
import { FaultyFiles } from './faults.ts';
import type { KindName } from './keys.ts';
import { contentOf, differingFields, isMaterial, type Content, type LocalItem } from './kinds.ts';
import type { LocalProject } from './project.ts';
import { inGroups, projectIdOf, RemoteProject, type RemoteItem, type Summary } from './remote.ts';

/**
 * Compares the files with the project, and lets the service check the new contents without writing anything.
 * @throws {FaultyFiles} with all faults of all files
 */
export async function makePlan(ras: Ras, local: LocalProject, takeOver = false): Promise<Plan> {
  try {
    return await compare(ras, local, takeOver);
  } catch (error) {
    // Without the service, only the faults of the files are shown.
    if (local.faults.length === 0 || error instanceof FaultyFiles || error instanceof CliError) throw error;
    throw new FaultyFiles(local.faults);
  }
}

async function compare(ras: Ras, local: LocalProject, takeOver: boolean): Promise<Plan> {
  const { name: owner, moved } = local.settings;
  const project = await projectIdOf(ras, local.settings.project);
  const remote = await RemoteProject.list(ras);
  const movedFrom = new Map<string, string>();
  for (const { kind, from, to } of moved) {
    const summary = remote.find(kind, from);
    if (summary === undefined || remote.find(kind, to) !== undefined) continue;
    if (!local.items.some((item) => item.kind === kind && item.key === to)) continue;
    remote.give(summary, to);
    movedFrom.set(summary.id, from);
  }
  const wanted = new Map(local.items.map((item) => [idOf(item), item]));
  const related = remote.summaries.filter(
    ({ kind, key, isManaged, owner: other }) =>
      key !== null && ((isManaged && other === owner) || wanted.has(idOf({ kind, key }))),
  );
  const found = new Map<string, RemoteItem>();
  for (const item of await remote.read(related)) {
    if (item.key !== null) found.set(idOf({ kind: item.kind, key: item.key }), item);
  }
  const changes = local.items.map((item) => {
    const there = found.get(idOf(item));
    const from = movedFrom.get(there?.id ?? '') ?? null;
    return changeOf(item, contentOf(item, local.settings), { there, from, owner });
  });
  const faults = await findFaults(ras, local, { remote, changes, takeOver });
  if (faults.length > 0) throw new FaultyFiles(faults);
  const left = [...found].flatMap(([id, item]) => (wanted.has(id) ? [] : [item]));
  const orphans = await inGroups(left, async (item) => orphanOf(item, await namesOf(ras, item, { local, left })));
  return { version: 1, project, owner, changes: [...changes, ...orphans] };
}

function idOf({ kind, key }: { readonly kind: KindName; readonly key: string }): string {
  return `${kind}/${key}`;
}

interface Counterpart {
  readonly there: RemoteItem | undefined;
  /** The key before a move; null without a move. */
  readonly from: string | null;
  readonly owner: string | null;
}

function changeOf({ kind, key, file }: LocalItem, desired: Content, { there, from, owner }: Counterpart): Change {
  const before = there?.content ?? {};
  const names = there === undefined ? [] : differingFields(before, desired);
  const fields = names.map((field) => ({ field, before: before[field] ?? null, after: desired[field] ?? null }));
  if (from !== null) fields.unshift({ field: 'externalKey', before: from, after: key });
  const { id = null, etag = null, content = null, drift = null, state = null, isBehind = false } = there ?? {};
  const isKept = there?.isManaged === true && there.owner === owner && drift === null;
  const isProven = state !== null && state !== 'draft';
  return {
    kind,
    key,
    action: there === undefined ? 'create' : fields.length > 0 ? 'update' : isKept ? 'unchanged' : 'adopt',
    file,
    id,
    movedFrom: from,
    etag,
    returnsToDraft: isProven && names.some((field) => isMaterial(kind, field)),
    state,
    isBehind,
    drift,
    namedBy: [],
    fields,
    desired,
    found: content,
  };
}

function orphanOf(item: RemoteItem, namedBy: readonly string[]): Change {
  const { kind, key, id, etag = null, state = null, drift, content } = item;
  return {
    kind,
    key: key ?? id,
    id,
    etag,
    state,
    drift,
    namedBy,
    action: 'orphan',
    file: null,
    movedFrom: null,
    returnsToDraft: false,
    isBehind: false,
    fields: [],
    desired: null,
    found: content,
  };
}

/** Lists users of a skill without a file: files, and routines that are not deleted with it. */
async function namesOf(
  ras: Ras,
  { kind, key, id }: RemoteItem,
  { local, left }: { readonly local: LocalProject; readonly left: readonly Summary[] },
): Promise<string[]> {
  if (kind === 'routine') return [];
  const files = local.items.flatMap((item) => {
    const { skills } = item.kind === 'routine' ? contentOf(item, local.settings) : {};
    return Array.isArray(skills) && (skills.includes(key) || skills.includes(id)) ? [item] : [];
  });
  const others = await ras.routines.list({ uses: id }).toArray({ limit: 200 });
  const goes = new Set(left.map((each) => each.id));
  const ownKeys = new Set(local.items.flatMap((item) => (item.kind === 'routine' ? [item.key] : [])));
  const remaining = others.filter(
    ({ id: routineId, externalKey, archivedAt }) =>
      archivedAt === null && !goes.has(routineId) && !ownKeys.has(externalKey ?? ''),
  );
  return [...files.map(({ file }) => file), ...remaining.map(({ name, id: each }) => `routine "${name}" (${each})`)];
}

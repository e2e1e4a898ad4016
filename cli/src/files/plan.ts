import type { Ras } from 'routine-automation-sdk';
import { CliError, fieldsOf } from '../failure.ts';
import { didYouMean, type Fault, FaultyFiles } from './faults.ts';
import { contentOf, differingFields, isMaterial, type Content, type KindName, type LocalItem } from './kinds.ts';
import type { LocalProject } from './project.ts';
import { RemoteProject, type RemoteItem } from './remote.ts';

export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What stands between the files and the service for one routine or skill. */
export interface Change {
  readonly kind: KindName;
  readonly key: string;
  /** `adopt`: it is as the file says, and is not marked yet as kept in files, or is marked as changed otherwise. `orphan`: kept in files, and has none. */
  readonly action: 'create' | 'update' | 'adopt' | 'unchanged' | 'orphan';
  readonly file: string | null;
  readonly id: string | null;
  /** The version that the plan has seen; null for one that is not there. */
  readonly etag: string | null;
  /** An active or paused routine becomes a draft, and needs a new proof. */
  readonly returnsToDraft: boolean;
  readonly state: string | null;
  /** It is active, and its scheduled runs take older texts of its skills than there are. */
  readonly isBehind: boolean;
  readonly fields: readonly FieldChange[];
  /** What the file says, and what the service has. */
  readonly desired: Content | null;
  readonly found: Content | null;
}

export interface Plan {
  readonly version: 1;
  readonly project: string | null;
  readonly changes: readonly Change[];
}

/** Compares the files with the project. Nothing is written. @throws {FaultyFiles} for schedules that cannot be */
export async function makePlan(ras: Ras, local: LocalProject): Promise<Plan> {
  const { project } = local.settings;
  if (project !== undefined) await checkProject(ras, project);
  const remote = await RemoteProject.list(ras);
  const wanted = new Map(local.items.map((item) => [idOf(item), item]));
  checkSkills(local, remote);
  const related = remote.summaries.filter(
    ({ kind, key, isManaged }) => key !== null && (isManaged || wanted.has(idOf({ kind, key }))),
  );
  const found = new Map<string, RemoteItem>();
  for (const item of await remote.read(related)) {
    if (item.key !== null) found.set(idOf({ kind: item.kind, key: item.key }), item);
  }
  const changes = local.items.map((item) => changeOf(item, contentOf(item, local.settings), found.get(idOf(item))));
  await checkSchedules(ras, local, changes);
  const orphans = [...found].flatMap(([id, item]) => (wanted.has(id) ? [] : [orphanOf(item)]));
  return { version: 1, project: project ?? null, changes: [...changes, ...orphans] };
}

function idOf({ kind, key }: { readonly kind: KindName; readonly key: string }): string {
  return `${kind}/${key}`;
}

function changeOf({ kind, key, file }: LocalItem, desired: Content, found: RemoteItem | undefined): Change {
  const before = found?.content ?? {};
  const fields = differingFields(before, desired).map((field) => ({
    field,
    before: before[field] ?? null,
    after: desired[field] ?? null,
  }));
  const { id = null, etag = null, content = null } = found ?? {};
  const state = found?.state ?? null;
  const isProven = state !== null && state !== 'draft';
  return {
    kind,
    key,
    action:
      found === undefined
        ? 'create'
        : fields.length > 0
          ? 'update'
          : found.isManaged && !found.hasDrifted
            ? 'unchanged'
            : 'adopt',
    file,
    id,
    etag,
    returnsToDraft: isProven && fields.some(({ field }) => isMaterial(kind, field)),
    state,
    isBehind: found?.isBehind ?? false,
    fields: found === undefined ? [] : fields,
    desired,
    found: content,
  };
}

function orphanOf({ kind, key, id, etag, state, content }: RemoteItem): Change {
  return {
    kind,
    key: key ?? id,
    action: 'orphan',
    file: null,
    id,
    etag: etag ?? null,
    returnsToDraft: false,
    state: state ?? null,
    isBehind: false,
    fields: [],
    desired: null,
    found: content,
  };
}

/** Holds the names of skills against those that there are. @throws {FaultyFiles} */
function checkSkills({ items, settings }: LocalProject, remote: RemoteProject): void {
  const custom = [...items, ...remote.summaries].flatMap(({ kind, key }) =>
    kind === 'skill' && key !== null ? [key] : [],
  );
  const names = new Set([...custom, ...remote.curated]);
  const faults = items.flatMap(({ kind, key, file, document }): Fault[] => {
    if (kind === 'skill') {
      const message = `"${key}" is the name of a skill of the service; take another`;
      return remote.curated.has(key) ? [{ file, message }] : [];
    }
    const { skills } = { ...settings.defaults, ...document.head };
    return (Array.isArray(skills) ? skills : []).flatMap((skill: unknown, at) => {
      const name = String(skill);
      // An id stays valid for a skill that is deleted; its runs leave it out.
      if (names.has(name) || name.startsWith('skl_')) return [];
      const message = `there is no skill "${name}"${didYouMean(name, [...names])}`;
      return [{ file, ...document.place(['skills', at], 'value'), message }];
    });
  });
  if (faults.length > 0) throw new FaultyFiles(faults);
}

/** Asks the service for each schedule that would be written, so that a bad one is told before anything is applied. */
async function checkSchedules(ras: Ras, { items }: LocalProject, changes: readonly Change[]): Promise<void> {
  const faults: Fault[] = [];
  for (const { kind, file, action, fields, desired } of changes) {
    const isNew = action === 'create' || fields.some(({ field }) => TIMING.has(field));
    if (kind !== 'routine' || !isNew || desired === null || file === null) continue;
    const { schedule, timezone } = desired;
    try {
      await ras.schedules.preview({ schedule: String(schedule), timezone: String(timezone) });
    } catch (error) {
      const { name, code, message } = fieldsOf(error);
      if (name !== 'BadRequestError') throw error;
      const field = code === 'invalid_timezone' ? 'timezone' : 'schedule';
      const place = items.find((item) => item.file === file)?.document.place([field], 'value');
      faults.push({ file, ...place, message: `${field}: ${String(message)}` });
    }
  }
  if (faults.length > 0) throw new FaultyFiles(faults);
}

const TIMING: ReadonlySet<string> = new Set(['schedule', 'timezone']);

/** A key reads the facts of its own project only. @throws {CliError} */
async function checkProject(ras: Ras, project: string): Promise<void> {
  try {
    await ras.facts.read(project);
  } catch (error) {
    if (fieldsOf(error)['status'] !== 404 && fieldsOf(error)['status'] !== 403) throw error;
    throw new CliError(`These files are for the project ${project}, and you are signed in to another one.`, {
      hint: 'Take the profile of that project by --profile, or change `project` in ras.yaml.',
    });
  }
}

/** Tells whether there is anything to do. */
export function isEmpty({ changes }: Plan): boolean {
  return changes.every(({ action }) => action === 'unchanged');
}

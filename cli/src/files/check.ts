import type { Body, Ras } from 'routine-automation-sdk';
import { fieldsOf } from '../failure.ts';
import type { Change } from './change.ts';
import { didYouMean, type Fault, firstOf } from './faults.ts';
import type { Content, LocalItem } from './kinds.ts';
import type { LocalProject } from './project.ts';
import { inGroups, type RemoteProject } from './remote.ts';

interface Compared {
  readonly remote: RemoteProject;
  readonly changes: readonly Change[];
  /** True to take over resources that another folder manages. */
  readonly takeOver: boolean;
}

/**
 * Lists all faults of all files: faults of their form, faults against the project, and faults that the service finds.
 */
export async function findFaults(ras: Ras, local: LocalProject, compared: Compared): Promise<Fault[]> {
  const { remote, changes, takeOver } = compared;
  const faults = [...local.faults, ...skillFaults(local, remote), ...(takeOver ? [] : ownerFaults(local, remote))];
  const written = changes.filter(({ kind, action }) => kind === 'routine' && action !== 'unchanged');
  const refused = await inGroups(written, async (change) => {
    const item = local.items.find(({ kind, file }) => kind === 'routine' && file === change.file);
    return item === undefined ? [] : refusalsOf(ras, item, change, { remote, changes });
  });
  return [...faults, ...refused.flat()].toSorted(byPlace);
}

/** Orders faults as an editor shows them; faults without a line come last in their file. */
function byPlace(a: Fault, b: Fault): number {
  const { line = Infinity, column = 0 } = a;
  const { line: otherLine = Infinity, column: otherColumn = 0 } = b;
  return a.file.localeCompare(b.file) || (line === otherLine ? column - otherColumn : line - otherLine);
}

/** Stand-ins for missing fields, so that the other fields can be checked. Faults of stand-ins are not reported. */
const STAND_INS: Content = {
  name: '-',
  schedule: '0 0 * * *',
  instructions: '-',
  model: { provider: 'gateway', modelId: '-' },
};

async function refusalsOf(
  ras: Ras,
  { file, document, faulty }: LocalItem,
  { key, movedFrom, desired }: Change,
  { remote, changes }: Pick<Compared, 'remote' | 'changes'>,
): Promise<Fault[]> {
  const content: Content = { ...STAND_INS, ...desired, ...(faulty.has('instructions') && { instructions: '-' }) };
  const said = (field: string) => !faulty.has(field) && (desired === null || Object.hasOwn(desired, field));
  const skills = changes.filter(({ kind, action }) => kind === 'skill' && action !== 'orphan');
  const lengths = new Map<string, number>();
  const references = (Array.isArray(content['skills']) ? content['skills'].map(String) : []).flatMap((name) => {
    const reference = remote.referenceOf(name);
    const at = skills.findIndex((skill) => skill.key === name);
    if (at === -1) return remote.curated.has(name) || reference !== name || name.startsWith('skl_') ? [reference] : [];
    const id = reference === name ? `new-skill-${at}` : reference;
    lengths.set(id, String(skills[at]?.desired?.['instructions']).length);
    return [id];
  });
  const body = {
    ...content,
    skills: references,
    externalKey: movedFrom ?? key,
    skillLengths: Object.fromEntries(lengths),
  };
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the schema of the API
    const { faults } = await ras.routines.check(body as Body<'checkRoutine'>);
    return firstOf(faults).flatMap(({ path, message }) => {
      const at = (path ?? '').split(/[.[\]]+/).filter((part) => part !== '');
      const [field = ''] = at;
      if (path !== null && !said(field)) return [];
      const place = field === 'instructions' || path === null ? {} : document.place(at.map(partOf), 'value');
      return [{ file, ...place, message: path === null ? message : `${path}: ${message}` }];
    });
  } catch (error) {
    if (fieldsOf(error)['name'] !== 'BadRequestError') throw error;
    // Report nothing if a field is faulty, because its stand-in may not fit the other fields.
    return faulty.size > 0 ? [] : [{ file, message: String(fieldsOf(error)['message']) }];
  }
}

function partOf(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part;
}

/** Finds unknown names of skills, and keys that are names of curated skills. */
function skillFaults({ items, settings }: LocalProject, remote: RemoteProject): Fault[] {
  const custom = [...items, ...remote.summaries].flatMap(({ kind, key }) =>
    kind === 'skill' && key !== null ? [key] : [],
  );
  const names = new Set([...custom, ...remote.curated]);
  return items.flatMap(({ kind, key, file, document, faulty }): Fault[] => {
    if (kind === 'skill') {
      const message = `"${key}" is the name of a skill of the service; take another`;
      return remote.curated.has(key) ? [{ file, message }] : [];
    }
    const { skills } = { ...settings.defaults, ...document.head };
    return (Array.isArray(skills) && !faulty.has('skills') ? skills : []).flatMap((skill: unknown, at) => {
      const name = String(skill);
      // The id of a deleted skill stays valid; runs leave the skill out.
      if (names.has(name) || name.startsWith('skl_')) return [];
      const message = `there is no skill "${name}"${didYouMean(name, [...names])}`;
      return [{ file, ...document.place(['skills', at], 'value'), message }];
    });
  });
}

/** Finds files whose routine or skill another folder manages. */
function ownerFaults({ items, settings }: LocalProject, remote: RemoteProject): Fault[] {
  return items.flatMap(({ kind, key, file }): Fault[] => {
    const { isManaged = false, owner = null } = remote.find(kind, key) ?? {};
    if (!isManaged || owner === null || owner === settings.name) return [];
    const message = `the ${kind} "${key}" is kept by the folder named "${owner}": take another key, or give --take-over`;
    return [{ file, message }];
  });
}

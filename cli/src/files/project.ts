import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, isMissing, readText } from './disk.ts';
import { type HeadedDocument, parseHeaded } from './document.ts';
import { type Fault, FaultyFiles, firstOf } from './faults.ts';
import { KEY, slugOf, type KindName } from './keys.ts';
import { headWith, KINDS, type LocalItem } from './kinds.ts';
import { schemaFaults, type SchemaFault } from './schema.ts';
import { readSettings, type Settings } from './settings.ts';

const MAX_FILES = 2_000;

export interface LocalProject {
  readonly folder: string;
  readonly settings: Settings;
  readonly items: readonly LocalItem[];
  /** Faults of the files themselves; the service finds the rest. */
  readonly faults: readonly Fault[];
}

/**
 * Reads and checks the files of a folder.
 * @throws {CliError} without a `ras.yaml`
 */
export async function readProject(folder: string, environment?: string): Promise<LocalProject> {
  const faults: Fault[] = [];
  const settings = await readSettings(folder, environment, faults);
  const items: LocalItem[] = [];
  for (const { kind, key, file } of await listFiles(folder, faults)) {
    try {
      const document = parseHeaded(file, await readText(folder, file));
      const found = faultsOf({ kind, key, file, document }, settings);
      faults.push(...found.faults);
      items.push({ kind, key, file, document, faulty: found.fields });
    } catch (error) {
      if (!(error instanceof FaultyFiles)) throw error;
      faults.push(...error.faults);
    }
  }
  return { folder, settings, items, faults };
}

/**
 * Reads the files of a folder for a command that cannot work with faulty files.
 * @throws {FaultyFiles}
 */
export async function readSoundProject(folder: string, environment?: string): Promise<LocalProject> {
  const local = await readProject(folder, environment);
  if (local.faults.length > 0) throw new FaultyFiles(local.faults);
  return local;
}

type Place = HeadedDocument['place'];

function faultsOf(item: Omit<LocalItem, 'faulty'>, settings: Settings): { faults: Fault[]; fields: Set<string> } {
  const { kind, file, document } = item;
  const { schema, text } = KINDS[kind];
  const { head, body } = document;
  const place: Place = (at, of) => document.place(at, of);
  // Leave out faults of values from `ras.yaml`, which are reported in `ras.yaml`.
  const own = schemaFaults(schema, headWith(item, settings)).filter(
    ({ path: [field] }) => field === undefined || Object.hasOwn(head, field),
  );
  const faults = firstOf(own).map((each) => faultIn(file, place, each));
  const { length } = body;
  if (length < text.min) {
    const least = `${text.min} character${text.min === 1 ? '' : 's'}`;
    faults.push({ file, message: `the text below the head is too short: at least ${least}` });
  }
  if (length > text.max) {
    faults.push({ file, message: `the text below the head has ${length} characters; at most ${text.max} are allowed` });
  }
  const fields = new Set(own.flatMap(({ path: [field] }) => (field === undefined ? [] : [String(field)])));
  if (length < text.min || length > text.max) fields.add('instructions');
  return { faults, fields };
}

function faultIn(file: string, place: Place, fault: SchemaFault): Fault {
  const { path: at, ofName, message } = fault;
  const isText = ofName && at.length === 1 && at[0] === 'instructions';
  const named = ofName || at.length === 0 ? '' : `${at.join('.')}: `;
  return {
    file,
    ...place(at, ofName ? 'name' : 'value'),
    message: isText ? 'the instructions are the text below the head, and no field' : named + message,
  };
}

interface Found {
  readonly kind: KindName;
  readonly key: string;
  readonly file: string;
}

/** Lists `routines/<key>.md` and `skills/<key>/SKILL.md`, without hidden files and README.md. */
async function listFiles(folder: string, faults: Fault[]): Promise<Found[]> {
  const found: Found[] = [];
  const add = (kind: KindName, key: string, file: string, name: string) => {
    if (KEY.test(key)) found.push({ kind, key, file });
    else {
      const better = slugOf(key);
      faults.push({
        file,
        message: `"${name}" is not a key: lower-case letters, digits, dots, underscores and hyphens, at most 63; try "${better}"`,
      });
    }
  };
  for (const name of await namesIn(folder, 'skills')) {
    const inside = await namesIn(folder, `skills/${name}`);
    const others = inside.filter((each) => each !== 'SKILL.md');
    if (others.length > 0) {
      faults.push({
        file: `skills/${name}/${others[0]}`,
        message: 'only SKILL.md is read; the service keeps one text for a skill',
      });
    }
    if (inside.length === others.length) faults.push({ file: `skills/${name}`, message: 'has no SKILL.md' });
    else add('skill', name, `skills/${name}/SKILL.md`, name);
  }
  for (const name of await namesIn(folder, 'routines')) {
    const file = `routines/${name}`;
    if (name.endsWith('.md')) add('routine', name.slice(0, -3), file, name);
    else faults.push({ file, message: 'is no .md file' });
  }
  if (found.length > MAX_FILES) {
    throw new FaultyFiles([{ file: '.', message: `${found.length} files; at most ${MAX_FILES} are allowed` }]);
  }
  return found;
}

async function namesIn(folder: string, name: string): Promise<string[]> {
  try {
    const names = await readdir(path.join(folder, name));
    return names.filter((each) => !each.startsWith('.') && each !== 'README.md').toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    // A file has the name of a folder; the caller reports the missing folder.
    if (codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

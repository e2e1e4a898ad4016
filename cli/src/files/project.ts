import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fieldsOf, usageError } from '../failure.ts';
import { codeOf, isMissing, readText } from './disk.ts';
import { type HeadedDocument, parseHeaded, parseYaml, placeIn } from './document.ts';
import { type Fault, FaultyFiles, firstOf } from './faults.ts';
import { ROUTINE_HEAD } from './generated/head-schemas.ts';
import { KEY, slugOf } from './keys.ts';
import { KINDS, type KindName, type LocalItem, type Settings } from './kinds.ts';
import { schemaFaults, type JsonSchema, type SchemaFault } from './schema.ts';

export const PROJECT_FILE = 'ras.yaml';

const MAX_FILES = 2_000;

export interface LocalProject {
  readonly folder: string;
  readonly settings: Settings;
  readonly items: readonly LocalItem[];
}

const SETTINGS_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    version: { type: 'integer', minimum: 1, maximum: 1 },
    project: { type: 'string', minLength: 1, maxLength: 200 },
    defaults: {
      type: 'object',
      properties: ROUTINE_HEAD.properties,
      additionalProperties: false,
    },
  },
  required: ['version'],
  additionalProperties: false,
  definitions: ROUTINE_HEAD.definitions,
};

/**
 * Reads the files of a folder and checks all of them.
 * @throws {FaultyFiles} with every fault of every file; {CliError} where there is no `ras.yaml`
 */
export async function readProject(folder: string): Promise<LocalProject> {
  const faults: Fault[] = [];
  const settings = await readSettings(folder, faults);
  const items: LocalItem[] = [];
  for (const { kind, key, file } of await listFiles(folder, faults)) {
    try {
      const document = parseHeaded(file, await readText(folder, file));
      faults.push(...faultsOf(kind, file, document, settings));
      items.push({ kind, key, file, document });
    } catch (error) {
      if (!(error instanceof FaultyFiles)) throw error;
      faults.push(...error.faults);
    }
  }
  if (faults.length > 0) throw new FaultyFiles(faults);
  return { folder, settings, items };
}

type Place = HeadedDocument['place'];

function faultsOf(kind: KindName, file: string, document: HeadedDocument, { defaults }: Settings): Fault[] {
  const { schema, text } = KINDS[kind];
  const { head, body } = document;
  const place: Place = (at, of) => document.place(at, of);
  const value = kind === 'routine' ? { ...fieldsOf(defaults), ...head } : head;
  const own = schemaFaults(schema, value).filter(
    ({ path: [field] }) => field === undefined || Object.hasOwn(head, field),
  );
  const faults = firstOf(own).map((each) => faultIn(file, place, each));
  const { length } = body;
  if (length < text.min)
    faults.push({
      file,
      message: `the text below the head is too short: ${text.min} characters at least`,
    });
  if (length > text.max)
    faults.push({
      file,
      message: `the text below the head has ${length} characters, of ${text.max} at most`,
    });
  return faults;
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

async function readSettings(folder: string, faults: Fault[]): Promise<Settings> {
  const file = PROJECT_FILE;
  try {
    const { document, lines } = parseYaml(file, await readText(folder, file), 0);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked below
    const settings = (document.toJS() ?? {}) as Settings;
    const place: Place = (at, of) => placeIn(document, lines, at, of, 0);
    faults.push(...firstOf(schemaFaults(SETTINGS_SCHEMA, settings)).map((each) => faultIn(file, place, each)));
    return settings;
  } catch (error) {
    if (error instanceof FaultyFiles) faults.push(...error.faults);
    else if (isMissing(error)) {
      throw usageError(`There is no ${file} in ${folder}.`, 'Make one with ras init.');
    } else throw error;
    return { version: 1 };
  }
}

interface Found {
  readonly kind: KindName;
  readonly key: string;
  readonly file: string;
}

/** Lists `routines/<key>.md` and `skills/<key>/SKILL.md`; hidden files are passed over. */
async function listFiles(folder: string, faults: Fault[]): Promise<Found[]> {
  const found: Found[] = [];
  const add = (kind: KindName, key: string, file: string, name: string) => {
    if (KEY.test(key)) found.push({ kind, key, file });
    else {
      const better = slugOf(key);
      faults.push({
        file,
        message: `"${name}" is no key: lower-case letters, digits, dots, underscores and hyphens, at most 63; try "${better}"`,
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
    throw new FaultyFiles([{ file: '.', message: `${found.length} files, of ${MAX_FILES} at most` }]);
  }
  return found;
}

async function namesIn(folder: string, name: string): Promise<string[]> {
  try {
    const names = await readdir(path.join(folder, name));
    return names.filter((each) => !each.startsWith('.')).toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    // A file where a folder would be; what lacks in it is told by the caller.
    if (codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

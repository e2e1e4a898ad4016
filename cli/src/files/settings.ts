import { fieldsOf, usageError } from '../failure.ts';
import { nearest } from '../nearest.ts';
import { readText, isMissing } from './disk.ts';
import { parseYaml, placeIn, type Head } from './document.ts';
import { type Fault, FaultyFiles, firstOf } from './faults.ts';
import { ROUTINE_HEAD } from './generated/head-schemas.ts';
import { KEY, type KindName } from './keys.ts';
import { schemaFaults, type JsonSchema } from './schema.ts';

export const PROJECT_FILE = 'ras.yaml';

/** Contents of `ras.yaml` for the chosen environment. */
export interface Settings {
  /** Name of this folder as the manager of its resources. Two folders of a project have different names. */
  readonly name: string | null;
  /** Id or name of the only project to read and to apply to. */
  readonly project: string | null;
  /** Fields that the heads of routines may leave out. */
  readonly defaults: Head;
  /** Fields of the environment that override those of the heads, for all routines and for some by key. */
  readonly overlay: Overlay;
  readonly overlays: Readonly<Record<string, Overlay>>;
  readonly moved: readonly Moved[];
}

/** A model or webhook overrides a routine's own; variables override variables of the routine. */
export interface Overlay {
  readonly model?: unknown;
  readonly webhookUrl?: unknown;
  readonly variables?: Readonly<Record<string, string>>;
}

/** A file that was renamed since the last apply. */
export interface Moved {
  readonly kind: KindName;
  readonly from: string;
  readonly to: string;
}

const HEAD: JsonSchema = ROUTINE_HEAD;
const { properties = {}, definitions = {} } = HEAD;
const KEYS: JsonSchema = { type: 'string', pattern: KEY.source };
const PROJECT: JsonSchema = {
  description: 'Id or name of the only project that these files are for. The project of the API key must be the same.',
  type: 'string',
  minLength: 1,
  maxLength: 200,
};

function pick(...names: readonly string[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(names.map((name) => [name, properties[name] ?? {}]));
}

const OVERLAY = pick('model', 'webhookUrl', 'variables');

/** JSON Schema of `ras.yaml`. */
export const SETTINGS: JsonSchema = {
  title: 'Settings of routines as files',
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    version: { type: 'integer', minimum: 1, maximum: 1 },
    name: { ...KEYS, description: 'Name of this folder. Another folder of the project needs another name.' },
    project: PROJECT,
    defaults: {
      description: 'Fields that the heads of routines may leave out.',
      type: 'object',
      properties,
      additionalProperties: false,
    },
    environments: {
      description: 'Values for --env, in place of those in the heads of routines.',
      type: 'object',
      propertyNames: KEYS,
      additionalProperties: {
        type: 'object',
        properties: {
          project: PROJECT,
          ...OVERLAY,
          routines: {
            type: 'object',
            propertyNames: KEYS,
            additionalProperties: { type: 'object', properties: OVERLAY, additionalProperties: false },
          },
        },
        additionalProperties: false,
      },
    },
    moved: {
      description: 'Files that were renamed: their routines and skills keep their history.',
      type: 'array',
      maxItems: 500,
      items: {
        type: 'object',
        properties: { kind: { type: 'string', enum: ['routine', 'skill'] }, from: KEYS, to: KEYS },
        required: ['from', 'to'],
        additionalProperties: false,
      },
    },
  },
  required: ['version'],
  additionalProperties: false,
  definitions,
};

interface Written {
  readonly name?: string;
  readonly project?: string;
  readonly defaults?: Head;
  readonly environments?: Readonly<
    Record<string, Overlay & Pick<Written, 'project'> & { routines?: Settings['overlays'] }>
  >;
  readonly moved?: readonly (Omit<Moved, 'kind'> & Partial<Moved>)[];
}

/**
 * Reads `ras.yaml` and adds its faults to the list.
 * @throws {CliError} without the file, or without the environment in it
 */
export async function readSettings(
  folder: string,
  environment: string | undefined,
  faults: Fault[],
): Promise<Settings> {
  const written = await readWritten(folder, faults);
  const { name = null, project = null, defaults = {}, environments = {}, moved = [] } = written;
  const chosen = environment === undefined ? {} : environments[environment];
  if (chosen === undefined && faults.length === 0) {
    const near = nearest(String(environment), Object.keys(environments));
    const hint = near === undefined ? 'They stand in ras.yaml, under environments.' : `Did you mean "${near}"?`;
    throw usageError(`There is no environment "${environment}".`, hint);
  }
  const { project: own = project, routines = {}, ...overlay } = chosen ?? {};
  return {
    name,
    project: own,
    defaults,
    overlay,
    overlays: routines,
    moved: moved.map(({ kind = 'routine', from, to }) => ({ kind, from, to })),
  };
}

async function readWritten(folder: string, faults: Fault[]): Promise<Written> {
  const file = PROJECT_FILE;
  try {
    const { document, lines } = parseYaml(file, await readText(folder, file), 0);
    const value: unknown = document.toJS() ?? {};
    const found = firstOf(schemaFaults(SETTINGS, value));
    for (const { path, ofName, message } of found) {
      const place = placeIn(document, lines, path, ofName ? 'name' : 'value', 0);
      faults.push({ file, ...place, message: ofName || path.length === 0 ? message : `${path.join('.')}: ${message}` });
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the schema
    return found.length > 0 ? {} : (value as Written);
  } catch (error) {
    if (isMissing(error)) throw usageError(`There is no ${file} in ${folder}.`, 'Make one with ras init.');
    if (!(error instanceof FaultyFiles)) throw error;
    faults.push(...error.faults);
    return {};
  }
}

/** Overrides fields of a head with those of the chosen environment. */
export function overlaid(head: Head, key: string, { overlay, overlays }: Settings): Head {
  return [overlay, overlays[key] ?? {}].reduce<Head>((under, { model, webhookUrl, variables = {} }) => {
    const own = fieldsOf(under['variables']);
    const replaced = Object.entries(variables).filter(([name]) => Object.hasOwn(own, name));
    const has = (name: string) => under[name] !== undefined && under[name] !== null;
    return {
      ...under,
      ...(model !== undefined && { model }),
      ...(webhookUrl !== undefined && (has('webhookUrl') || Object.hasOwn(overlays, key)) && { webhookUrl }),
      ...(replaced.length > 0 && { variables: { ...own, ...Object.fromEntries(replaced) } }),
    };
  }, head);
}

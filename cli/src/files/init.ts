import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { KINDS } from './kinds.ts';
import { isMissing, writeFileIn } from './disk.ts';
import { slugOf } from './keys.ts';
import { PROJECT_FILE, SETTINGS } from './settings.ts';

/** Git must not change line endings in texts for a model. */
const ATTRIBUTES = ['routines/** -text', 'skills/** -text'];

/**
 * Prepares the folder: `ras.yaml`, the schemas for editors, and the attributes for git. Existing files stay, except the
 * schemas.
 * @returns the files that were written
 */
export async function init(folder: string, project: string | undefined): Promise<string[]> {
  const written: string[] = [];
  const write = async (file: string, text: string) => {
    if ((await textOf(folder, file)) === text) return;
    await writeFileIn(folder, file, text);
    written.push(file);
  };
  if ((await textOf(folder, PROJECT_FILE)) === undefined) {
    await write(PROJECT_FILE, settingsWith(slugOf(path.basename(folder), 'routines'), project));
  }
  const heads = Object.values(KINDS).map(({ schema, schemaPath }) => [schemaPath, schema] as const);
  for (const [schemaPath, schema] of [[SETTINGS_PATH, SETTINGS] as const, ...heads]) {
    await write(schemaPath.replace(/^[./]*\//, ''), `${JSON.stringify(schema, null, 2)}\n`);
  }
  const attributes = (await textOf(folder, '.gitattributes')) ?? '';
  const known = new Set(attributes.split('\n'));
  const lacking = ATTRIBUTES.filter((line) => !known.has(line));
  if (lacking.length > 0) {
    const before = attributes === '' || attributes.endsWith('\n') ? attributes : `${attributes}\n`;
    await write('.gitattributes', `${before}${lacking.join('\n')}\n`);
  }
  return written;
}

const SETTINGS_PATH = '.ras/ras.schema.json';

function settingsWith(name: string, project: string | undefined): string {
  return [
    `# yaml-language-server: $schema=${SETTINGS_PATH}`,
    'version: 1',
    '# Owner of what these files keep: another folder of the project needs another name.',
    stringify({ name }).trimEnd(),
    '# Id or name of the only project that these files are for.',
    project === undefined ? '# project: prj_…' : stringify({ project }).trimEnd(),
    '# Fields that the heads of routines may leave out.',
    'defaults:',
    '  timezone: UTC',
    '',
  ].join('\n');
}

async function textOf(folder: string, file: string): Promise<string | undefined> {
  try {
    return await readFile(path.join(folder, file), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

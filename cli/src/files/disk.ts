import { lstat, mkdir, open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { CliError } from '../failure.ts';
import { writeWhole } from '../write-whole.ts';
import { FaultyFiles } from './faults.ts';

/**
 * Reads a file as UTF-8. Links must not lead out of the folder: otherwise a user who can write there could make `ras`
 * send any file of this machine to the service.
 * @throws {FaultyFiles}
 */
export async function readText(folder: string, file: string): Promise<string> {
  const refuse = (message: string) => new FaultyFiles([{ file, message }]);
  const [root, target] = await Promise.all([realpath(folder), realpath(path.join(folder, file))]);
  if (!target.startsWith(path.join(root, path.sep))) throw refuse('is a link that leads out of the folder');
  return readFileOf(target, refuse);
}

/** Enough bytes for the longest text with its head, at four bytes a character. */
const MAX_FILE_BYTES = 1_048_576;

/**
 * Reads a file of limited size.
 * @throws the error of `refuse`
 */
export async function readFileOf(
  target: string,
  refuse: (message: string) => Error,
  maxBytes = MAX_FILE_BYTES,
): Promise<string> {
  const handle = await open(target);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw refuse('is no file');
    if (stat.size > maxBytes) throw refuse(`has ${stat.size} bytes, of ${maxBytes} at most`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await handle.readFile());
  } catch (error) {
    if (error instanceof TypeError) throw refuse('is not UTF-8');
    throw error;
  } finally {
    await handle.close();
  }
}

/** Writes a file of the project in one piece, without following a link. */
export async function writeFileIn(folder: string, file: string, text: string): Promise<void> {
  const target = path.join(folder, file);
  await mkdir(path.dirname(target), { recursive: true });
  const [root, parent] = await Promise.all([realpath(folder), realpath(path.dirname(target))]);
  const isInside = `${parent}${path.sep}`.startsWith(path.join(root, path.sep));
  if (!isInside || (await isLink(target))) {
    throw new CliError(`${file} is a link or lies behind one; ras writes through no link.`);
  }
  await writeWhole(target, text);
}

async function isLink(target: string): Promise<boolean> {
  try {
    return (await lstat(target)).isSymbolicLink();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { errorCode } from './error-code.ts';
import { isSetting, SETTINGS } from './environment.ts';

/** An assignment, whose quoted value may have several lines. Messages never contain the value. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=(?:[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`)[ \t]*(?:#.*)?|(?![ \t]*["'`]).*)$/gm;

/**
 * Adds the variables of an `.env` file to the environment, whose own variables take precedence.
 * @returns hints about names that are probably mistyped
 * @throws an error that names every line without an assignment, because Node's parser would skip such lines silently
 */
export function readEnvFile(file: string, env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; hints: string[] } {
  const text = contentOf(file)
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
  const names: string[] = [];
  const rest = text.replace(ASSIGNMENT, (assignment, name: string) => {
    names.push(name);
    return assignment.replace(/[^\n]+/g, '');
  });
  const wrong = rest.split('\n').flatMap((line, index) => (/^\s*(#|$)/.test(line) ? [] : [String(index + 1)]));
  if (wrong.length > 0) {
    const lines = wrong.length === 1 ? `line ${wrong[0]} is` : `lines ${wrong.join(', ')} are`;
    throw new Error(
      `${file}: ${lines} wrong. Expected NAME=value, a comment that begins with #, or nothing; a quote that is opened has to be closed.`,
    );
  }
  return { env: { ...parseEnv(text), ...env }, hints: names.flatMap((name) => hintAt(name)) };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}

function hintAt(name: string): string[] {
  if (isSetting(name)) return [];
  const near = closest(name, [...SETTINGS]);
  return distance(name, near) <= 2 ? [`.env: ${name} is not known; is ${near} meant?`] : [];
}

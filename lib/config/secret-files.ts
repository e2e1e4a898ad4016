import { readFileSync, statSync } from 'node:fs';
import { SECRET_VARIABLES, type Present } from './variables.ts';

/**
 * Replaces each `NAME_FILE` of a secret by NAME with the content of that file, without the newline at its end. Reads
 * only the secrets that this process uses, because the files of other secrets may be missing on its machine.
 */
export function readSecretFiles(
  environment: Readonly<Present>,
  isUsed: (name: string) => boolean = () => true,
): { present: Present; faults: string[] } {
  const present: Present = { ...environment };
  const faults: string[] = [];
  for (const variable of Object.keys(environment)) {
    const name = /^(.+)_FILE$/.exec(variable)?.[1];
    if (name === undefined || !isSecret(name)) continue;
    delete present[variable];
    if (!isUsed(name)) continue;
    const read = secretFromFile(environment, name);
    if (read.fault === undefined) present[name] = read.value;
    else faults.push(read.fault);
  }
  return { present, faults };
}

/** Returns the secret in the file of `NAME_FILE`, or the secret in NAME itself, or the fault of the file. */
export function secretFromFile(
  environment: Readonly<Present>,
  name: string,
): { value?: string | undefined; fault?: string } {
  const path = environment[`${name}_FILE`];
  if (path === undefined) return { value: environment[name] };
  const fault = (why: string) => ({ fault: `${name}_FILE: ${why}` });
  if (environment[name] !== undefined) return fault(`${name} is set as well; set one of them`);
  try {
    const file = statSync(path);
    if (!file.isFile()) return fault(`${path} is not a file`);
    // Windows stores permissions elsewhere, so the check skips Windows.
    if (process.platform !== 'win32' && (file.mode & 0o007) !== 0) {
      return fault(`${path} is open to every user of the machine; run chmod o-rwx on it`);
    }
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return value === '' ? fault(`${path} is empty`) : { value };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return fault(`${path} does not exist`);
    if (code === 'EACCES') return fault(`this process has no right to read ${path}`);
    return fault(`${path} cannot be read (${String(code)})`);
  }
}

/** Returns true for a secret of the service or of a connection's provider, which may come from a file. */
export function isSecret(name: string): boolean {
  return SECRETS.has(name) || /^CONNECTION_[A-Z][A-Z0-9_]*_CLIENT_SECRET$/.test(name);
}

const SECRETS: ReadonlySet<string> = new Set(SECRET_VARIABLES);

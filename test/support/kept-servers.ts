import { createHash } from 'node:crypto';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ProvidedContext } from 'vitest';

type Provided = Pick<ProvidedContext, 'postgresAdminUrl' | 'templateDatabase' | 'temporalAddress' | 'poolerPort'>;

const FILE = path.join(import.meta.dirname, '../../node_modules/.cache/test-servers.json');
const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');

/** Lets other test runs use the servers of this one. @returns a function that stops the sharing */
export function keepServers(provided: Provided): () => void {
  writeFileSync(FILE, JSON.stringify({ pid: process.pid, schema: hashOfMigrations(), provided }));
  const takeBack = () => rmSync(FILE, { force: true });
  process.once('exit', takeBack);
  return takeBack;
}

/** Returns the servers that `npm run test:watch` keeps; undefined if it has ended or has another schema. */
export function keptServers(): Provided | undefined {
  try {
    const { pid, schema, provided } = JSON.parse(readFileSync(FILE, 'utf8'));
    // Signal 0 sends nothing, and throws if there is no such process.
    process.kill(pid, 0);
    return schema === hashOfMigrations() ? provided : undefined;
  } catch {
    return undefined;
  }
}

function hashOfMigrations(): string {
  const hash = createHash('sha256');
  for (const name of globSync('**/*.ts', { cwd: MIGRATIONS }).toSorted()) {
    hash.update(name).update(readFileSync(path.join(MIGRATIONS, name)));
  }
  return hash.digest('hex');
}

/**
 * Entry: `npm run migrations:release` adds the hashes of unreleased migrations to `migrations/released.json`, under the
 * version of `package.json`. Existing entries never change.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { MIGRATION_STEPS, migrationFiles } from '#lib/database/index.ts';

const LIST = new URL('released.json', import.meta.url);
const PACKAGE = new URL('../package.json', import.meta.url);

const releases = z.record(z.string(), z.record(z.string(), z.string())).parse(JSON.parse(await readFile(LIST, 'utf8')));
const { version } = z.object({ version: z.string() }).parse(JSON.parse(await readFile(PACKAGE, 'utf8')));

const released = new Set(Object.values(releases).flatMap((files) => Object.keys(files)));
const added = (await migrationFiles()).filter((file) => !released.has(file));
const hashes = await Promise.all(
  added.map(async (file) => {
    const text = await readFile(MIGRATION_STEPS + file);
    return [file, createHash('sha256').update(text).digest('hex')] as const;
  }),
);
releases[version] = { ...releases[version], ...Object.fromEntries(hashes) };
await writeFile(LIST, `${JSON.stringify(releases, null, 2)}\n`);
console.log(`${version}: ${added.join(', ') || 'no further migration'}`);

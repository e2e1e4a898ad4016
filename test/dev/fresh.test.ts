import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setDataAside, withWayOut } from '#dev/stack/fresh.ts';
import { identify } from '#dev/stack/processes.ts';
import { FormerData, migrate } from '#migrations/migrate.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { makeFormer } from '#test/support/given.ts';
import { startNode } from '#test/support/node-process.ts';

const SENTENCE = 'The data in this database was made before 0.1.0, the first release, and cannot be migrated.';
const DAY = new Date('2026-11-25T12:00:00Z');

let root: string;
let dataDir: string;
let logged: string[];

function log(line: string): void {
  logged.push(line);
}

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'ras-fresh-'));
  dataDir = path.join(root, '.data');
  logged = [];
});
afterEach(() => rmSync(root, { recursive: true }));

function makeData(text: string): void {
  mkdirSync(dataDir);
  writeFileSync(path.join(dataDir, 'kept'), text);
}

test('a fresh start moves the data aside, and says where it is', async () => {
  expect(await setDataAside(dataDir, log, DAY)).toBeUndefined();
  for (const [text, name] of [
    ['first', '.data.2026-11-25'],
    ['second', '.data.2026-11-25-2'],
  ] as const) {
    makeData(text);
    const folder = await setDataAside(dataDir, log, DAY);
    expect(folder).toBe(path.join(root, name));
    expect(readFileSync(path.join(root, name, 'kept'), 'utf8')).toBe(text);
    expect(existsSync(dataDir)).toBe(false);
    expect(logged.at(-1)).toContain(`is in ${name} now`);
  }
});

test('the data of a start that is running stays where it is', async () => {
  makeData('in use');
  const other = spawn('sleep', ['60']);
  try {
    const owner = JSON.stringify({ owner: identify(other.pid!), children: [] });
    writeFileSync(path.join(dataDir, 'pids.json'), owner);
    await expect(setDataAside(dataDir, log, DAY)).rejects.toThrow('Already running here');
    expect(existsSync(path.join(dataDir, 'kept'))).toBe(true);
  } finally {
    other.kill();
  }
});

test('data from before the first release is met with one sentence, and the start offers a way out', async () => {
  const former = await createTestDatabase();
  try {
    await makeFormer(former.database);
    const error = await migrate(former.url).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FormerData);
    expect(withWayOut(error, dataDir, undefined)).toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^${SENTENCE} \`npm start -- --fresh\` moves it aside to \\.data\\.\\d{4}-`),
      ),
    });
    expect(withWayOut(error, dataDir, former.url)).toMatchObject({
      message: `${SENTENCE} Set DATABASE_URL to an empty database.`,
    });
    const another = new Error('another');
    expect(withWayOut(another, dataDir, undefined)).toBe(another);
  } finally {
    await former.drop();
  }
});

test('the migrations of a release say the same sentence, change nothing and end with 1', async () => {
  const former = await createTestDatabase();
  try {
    await makeFormer(former.database);
    const migrations = startNode('migrations/run.ts', {
      DATABASE_URL: former.url,
      NODE_ENV: 'test',
    });
    expect(await migrations.exited).toBe(1);
    expect(migrations.output()).toContain(SENTENCE);
    expect(migrations.output()).not.toMatch(/--fresh|relation|\n\s+at /);
    expect(migrations.output().trim().split('\n')).toHaveLength(1);
  } finally {
    await former.drop();
  }
});

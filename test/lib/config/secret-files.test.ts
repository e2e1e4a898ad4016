import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, loadConfig, SECRET_VARIABLES, type Role } from '#lib/config/index.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'ras-secrets-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

const KEY = randomBytes(32).toString('base64');
const good = {
  DATABASE_URL: 'postgres://localhost/ras',
  TEMPORAL_ADDRESS: 'localhost:7233',
  BETTER_AUTH_SECRET: 's'.repeat(32),
  GATEWAY_API_KEY: 'gateway-key',
  SIGN_UP: 'closed',
  TRUSTED_PROXIES: 'none',
  PUBLIC_URL: 'https://api.test',
  UI_ORIGIN: 'https://app.test',
};

function write(name: string, text: string, mode = 0o600): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function faultsOf(environment: Record<string, string>, role: Role = 'api'): readonly string[] {
  try {
    loadConfig(role, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test.for(['\n', '\r\n', ''])('a secret comes from its file, less one end of a line (%j)', (end) => {
  const ENCRYPTION_KEY_FILE = write('key', `${KEY}${end}`);
  expect(loadConfig('api', { ...good, ENCRYPTION_KEY_FILE })).toMatchObject({
    ENCRYPTION_KEY: KEY,
  });
});

test('every secret can come from a file, and one that is wrong there is a fault of its variable', () => {
  const files = Object.fromEntries(SECRET_VARIABLES.map((name) => [`${name}_FILE`, write(name, `${KEY}\n`)]));
  const faults = faultsOf({ ...files, TEMPORAL_ADDRESS: 'localhost:7233', NODE_ENV: 'test' });
  // A key is no address, and the payment's prices are missing. The other faults report that the secret is repeated.
  expect(faults).toContainEqual(expect.stringMatching(/^DATABASE_URL: required: a postgres/));
  expect(faults).toContainEqual(expect.stringMatching(/^SMTP_URL: expected an smtp/));
  const repeated = faults.filter((fault) => fault.includes('expected a secret of its own'));
  expect(repeated).toHaveLength(SECRET_VARIABLES.filter((name) => !name.endsWith('_URL')).length - 1);
});

test('a file that cannot be used is one sentence with its variable and its path', () => {
  const at = (name: string) => path.join(folder, name);
  write('blank', '\n');
  write('open', KEY, 0o604);
  for (const [file, why] of [
    [at('absent'), `${at('absent')} does not exist`],
    [folder, `${folder} is not a file`],
    [at('blank'), `${at('blank')} is empty`],
    [at('open'), `${at('open')} is open to every user of the machine; run chmod o-rwx on it`],
  ] as const) {
    expect(faultsOf({ ...good, ENCRYPTION_KEY_FILE: file })).toEqual([`ENCRYPTION_KEY_FILE: ${why}`]);
  }
});

test('a file without the right to read it is refused as that', () => {
  const ENCRYPTION_KEY_FILE = write('closed', KEY, 0o000);
  const wasRoot = process.geteuid?.() === 0;
  if (wasRoot) process.seteuid?.(65_534);
  try {
    expect(faultsOf({ ...good, ENCRYPTION_KEY_FILE })).toEqual([
      `ENCRYPTION_KEY_FILE: this process has no right to read ${ENCRYPTION_KEY_FILE}`,
    ]);
  } finally {
    if (wasRoot) process.seteuid?.(0);
  }
});

test('a secret that is set both ways is refused', () => {
  const ENCRYPTION_KEY_FILE = write('both', KEY);
  expect(faultsOf({ ...good, ENCRYPTION_KEY: KEY, ENCRYPTION_KEY_FILE })).toEqual([
    'ENCRYPTION_KEY_FILE: ENCRYPTION_KEY is set as well; set one of them',
  ]);
});

test('a process asks for no file of a secret that it does not use', () => {
  const DATABASE_URL_FILE = write('database', good.DATABASE_URL);
  const ENCRYPTION_KEY_FILE = path.join(folder, 'absent');
  expect(loadConfig('migrate', { DATABASE_URL_FILE, ENCRYPTION_KEY_FILE })).toMatchObject({
    DATABASE_URL: good.DATABASE_URL,
  });
});

test('keys of model servers and secrets of connection providers come from files too', () => {
  const GATEWAYS_FILE = write(
    'gateways.yaml',
    'sources: [{ name: one, baseUrl: "https://one.test/v1", apiKeyVariable: ONE_KEY }]',
  );
  const environment = {
    ...good,
    ENCRYPTION_KEY: KEY,
    GATEWAYS_FILE,
    ONE_KEY_FILE: write('one', 'key of one\n'),
    CONNECTION_LINEAR_CLIENT_ID: 'client',
    CONNECTION_LINEAR_CLIENT_SECRET_FILE: write('linear', 'secret of linear\n'),
  };
  expect(loadConfig('worker', environment)).toMatchObject({
    MODEL_SOURCES: [{ name: 'one', apiKey: 'key of one' }],
    CONNECTION_CLIENTS: { LINEAR: { clientId: 'client', clientSecret: 'secret of linear' } },
  });
  const absent = path.join(folder, 'absent');
  const CONNECTION_LINEAR_CLIENT_SECRET_FILE = absent;
  const wrong = { ...environment, ONE_KEY_FILE: absent, CONNECTION_LINEAR_CLIENT_SECRET_FILE };
  expect(faultsOf(wrong, 'worker')).toEqual([
    `CONNECTION_LINEAR_CLIENT_SECRET_FILE: ${absent} does not exist`,
    `ONE_KEY_FILE: ${absent} does not exist`,
  ]);
});

import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { freePort } from '#dev/stack/ports.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { environmentOf, keyOf, terminal, type Terminal } from './terminal.ts';

const test = serviceTest();

const FILE = '.config/ras/profiles.json';

async function modeOf(user: Terminal, name: string): Promise<string> {
  const { mode } = await stat(path.join(user.home, name));
  return (mode & 0o777).toString(8);
}

test('a key from stdin is checked and kept where only the user reads it', async ({ ada, service }) => {
  const user = await terminal();
  const key = keyOf(await ada.key(['routines:read', 'runs:read']));
  const login = ['login', '--with-token', '--api-url', `${service.url}/`];
  const { code, json, stdout, stderr } = await user.run(login, { stdin: `${key}\n` });
  expect(code).toBe(0);
  const { name } = (await ada.session.get(`/v1/projects/${ada.projectId}`)).data;
  const project = { projectId: ada.projectId, projectName: name };
  expect(json).toMatchObject({ baseUrl: service.url, ...project, scopes: ['routines:read', 'runs:read'] });
  expect(await modeOf(user, FILE)).toBe('600');
  expect(await modeOf(user, path.dirname(FILE))).toBe('700');
  expect(await readdir(path.join(user.home, '.config/ras'))).toEqual(['profiles.json']);
  const who = await user.run(['whoami'], { isTerminal: true });
  expect(who.stdout).toMatch(/^Scopes +routines:read runs:read$/m);
  expect(who.stdout).toContain(`${name} (${ada.projectId})`);
  const secret = key.split('_')[2]!;
  for (const text of [stdout, stderr, who.stdout]) expect(text).not.toContain(secret);
  expect(who.stdout).toContain(`${key.slice(0, 12)}_…`);
  expect((await user.run(['routines', 'list'])).json).toEqual([]);
});

test('a key with every scope is known to have every scope, and nothing is changed to find out', async ({
  ada,
  key,
}) => {
  const user = await terminal();
  const { json } = await user.run(['whoami'], { env: environmentOf(key) });
  expect(json).toMatchObject({ profile: null, scopes: [...SCOPES] });
  const lacking = environmentOf(await ada.key(['models:read']));
  expect((await user.run(['whoami'], { env: lacking })).json.scopes).toEqual(['models:read']);
  const refused = await user.run(['routines', 'list'], { env: lacking });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/lacks the scope routines:read.*\(insufficient_scope, /);
});

test('a key that is not accepted is not kept', async ({ service }) => {
  const user = await terminal();
  const login = ['login', '--with-token', '--api-url', service.url];
  const wrong = await user.run(login, {
    stdin: 'ras_abcdefgh_0123456789012345678901234567890123456789012',
  });
  expect(wrong).toMatchObject({ code: 4, stdout: '' });
  expect(wrong.stderr).not.toContain('0123456789012345');
  expect(await user.run(login, { stdin: '' })).toMatchObject({ code: 2 });
  expect(await user.run(login, { stdin: 'two words' })).toMatchObject({ code: 2 });
  expect(await user.run(['whoami'])).toMatchObject({ code: 4 });
  await expect(stat(path.join(user.home, FILE))).rejects.toThrow('ENOENT');
});

test('a key that was revoked exits with 4 and says how to sign in again', async ({ bob, service }) => {
  const user = await terminal();
  const key = keyOf(await bob.key());
  await user.run(['login', '--with-token', '--api-url', service.url, '--profile', 'work'], {
    stdin: key,
  });
  const project = bob.session.with({ 'X-Project-Id': bob.projectId });
  const { data: keys } = await project.get('/v1/api-keys');
  await project.delete(`/v1/api-keys/${keys[0].id}`);
  const fromFile = await user.run(['routines', 'list', '--profile', 'work']);
  expect(fromFile).toMatchObject({ code: 4, stdout: '' });
  expect(fromFile.stderr).toContain('ras login --profile work');
  const env = { RAS_API_KEY: key, RAS_API_URL: service.url };
  const fromEnvironment = await user.run(['whoami'], { env });
  expect(fromEnvironment).toMatchObject({ code: 4, stdout: '' });
  expect(fromEnvironment.stderr).toContain('RAS_API_KEY');
});

test('the environment goes first, a named profile before it, and a key only to its address', async ({
  ada,
  bob,
  service,
}) => {
  const user = await terminal();
  const other = await startReceiver((_, response) => response.writeHead(401).end('{}'));
  const [first, second] = [keyOf(await ada.key()), keyOf(await bob.key())];
  const login = ['login', '--with-token', '--api-url', service.url];
  await user.run(login, { stdin: first });
  await user.run([...login, '--profile', 'bob'], { stdin: second });
  const prefix = async (args: readonly string[], env = {}) =>
    (await user.run(['whoami', ...args], { env })).json.apiKey.slice(0, 12);
  expect(await prefix([])).toBe(first.slice(0, 12));
  expect(await prefix([], { RAS_PROFILE: 'bob' })).toBe(second.slice(0, 12));
  expect(await prefix([], { RAS_API_KEY: second })).toBe(second.slice(0, 12));
  expect(await prefix(['--profile', 'default'], { RAS_API_KEY: second })).toBe(first.slice(0, 12));

  const elsewhere = await user.run(['routines', 'list'], { env: { RAS_API_URL: other.origin } });
  expect(elsewhere).toMatchObject({ code: 4 });
  expect(other.received).toEqual([]);
  const mistyped = await user.run(['whoami', '--profile', 'bbo']);
  expect(mistyped).toMatchObject({ code: 4, stderr: expect.stringContaining('--profile bob') });
});

test('the folder of profiles is that of XDG, and its mode is put right', async ({ ada, service }) => {
  const user = await terminal();
  const key = keyOf(await ada.key());
  const config = path.join(user.home, 'own');
  await mkdir(path.join(config, 'ras'), { recursive: true, mode: 0o755 });
  await writeFile(path.join(config, 'ras/profiles.json'), '{}', { mode: 0o644 });
  await chmod(path.join(config, 'ras/profiles.json'), 0o644);
  const env = { XDG_CONFIG_HOME: config };
  await user.run(['login', '--with-token', '--api-url', service.url], { stdin: key, env });
  expect(await modeOf(user, 'own/ras/profiles.json')).toBe('600');
  expect(await modeOf(user, 'own/ras')).toBe('700');
  const kept = JSON.parse(await readFile(path.join(config, 'ras/profiles.json'), 'utf8'));
  expect(kept.profiles.default.apiKey).toBe(key);
  expect(await user.run(['whoami'])).toMatchObject({ code: 4 });
});

test('logout forgets the key and says that it stays valid', async ({ ada, service }) => {
  const user = await terminal();
  const key = keyOf(await ada.key());
  await user.run(['login', '--with-token', '--api-url', service.url], { stdin: key });
  const { code, stderr } = await user.run(['logout']);
  expect(code).toBe(0);
  expect(stderr).toContain('stays valid');
  expect(await readFile(path.join(user.home, FILE), 'utf8')).not.toContain(key);
  expect(await user.run(['whoami'])).toMatchObject({ code: 4 });
  expect(await user.run(['logout'])).toMatchObject({ code: 0, stderr: 'You are not signed in.\n' });
});

test('doctor finds nothing where all is well, and each cause where it is not', async ({ ada, service }) => {
  const user = await terminal();
  const env = environmentOf(await ada.key());
  const well = await user.run(['doctor'], { env });
  expect(well.code).toBe(0);
  expect(well.json.map(({ check, state }: Record<string, string>) => `${check} ${state}`)).toEqual(
    ['Node.js', 'profiles', 'address', 'clock', 'version', 'key', 'scopes'].map((check) => `${check} good`),
  );
  const { RAS_API_KEY: key } = env;
  const findings = async (environment: Record<string, string>) => {
    const { code, json } = await user.run(['doctor'], { env: environment });
    expect(code).toBe(1);
    return json.filter(({ state }: { state: string }) => state === 'bad');
  };
  expect(await findings({})).toMatchObject([{ check: 'address' }]);
  expect(await findings({ RAS_API_URL: `http://127.0.0.1:${await freePort()}`, RAS_API_KEY: key! })).toMatchObject([
    { check: 'address', detail: expect.stringContaining('ECONNREFUSED') },
  ]);
  const late = await startReceiver((_, response) => {
    response.writeHead(200, { Date: 'Wed, 25 Nov 2020 07:00:00 GMT' });
    response.end('{"data": {"status": "ok", "version": "9.0.0"}}');
  });
  expect(await findings({ RAS_API_URL: late.origin, RAS_API_KEY: key! })).toMatchObject([{ check: 'clock' }]);
  expect(await findings({ RAS_API_URL: service.url, RAS_API_KEY: 'ras_wrong' })).toMatchObject([
    { check: 'key', detail: expect.stringContaining('does not accept') },
  ]);
  await mkdir(path.join(user.home, '.config/ras'), { recursive: true });
  await writeFile(path.join(user.home, FILE), '{}');
  await chmod(path.join(user.home, FILE), 0o644);
  expect(await findings(env)).toMatchObject([{ check: 'profiles' }]);
});

test.for([
  ['0.0.9', 'warning', 'the service is 0.0.9, older than ras'],
  [undefined, 'warning', 'the service does not say its version, so it is older than ras'],
  ['0.1.7', 'good', 'service 0.1.7, ras'],
  ['1.0.0', 'good', 'service 1.0.0, ras'],
] as const)('doctor compares the version %s of a service with its own: %s', async ([theirs, state, detail]) => {
  const paths: (string | undefined)[] = [];
  const other = await startReceiver((request, response) => {
    paths.push(request.url);
    const data = request.url === '/health' ? { status: 'ok' } : { version: theirs };
    response.writeHead(request.url === '/health' || theirs !== undefined ? 200 : 404).end(JSON.stringify({ data }));
  });
  const user = await terminal();
  const { json } = await user.run(['doctor'], { env: { RAS_API_URL: other.origin } });
  const found = json.find(({ check }: { check: string }) => check === 'version');
  expect(found).toMatchObject({ state, detail: expect.stringContaining(detail) });
  // The document of the API has 700 kB.
  expect(paths).toEqual(['/health', '/v1/version']);
});

test('on a terminal the address and the key are asked for, and the key is not shown', async ({ ada, service }) => {
  const user = await terminal();
  const key = keyOf(await ada.key());
  const cleared = '\u007F'.repeat('http://localhost:3000'.length);
  const { code, stderr } = await user.run(['login', '--with-token'], {
    isTerminal: true,
    answers: [
      ['Address of the service', `${cleared}${service.url}\r`],
      ['API key', `${key}\r`],
    ],
  });
  expect(code).toBe(0);
  expect(stderr).toContain('Address of the service');
  expect(stderr).toContain(`Signed in at ${service.url}`);
  expect(stderr).not.toContain(key.slice(13));
  const left = await user.run(['login', '--with-token', '--profile', 'other'], {
    isTerminal: true,
    answers: [['Address of the service', '\u0003']],
  });
  expect(left).toMatchObject({ code: 130, stdout: '' });
});

test('without a terminal nothing is asked', async () => {
  const user = await terminal();
  expect(await user.run(['login'])).toMatchObject({ code: 2, stdout: '' });
  const env = { RAS_API_KEY: 'ras_1' };
  expect(await user.run(['routines', 'list'], { env })).toMatchObject({ code: 2 });
  const wrong = await user.run(['login', '--api-url', 'ftp://example.com']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('https://') });
});

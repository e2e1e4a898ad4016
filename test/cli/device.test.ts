import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { KEY, startDeviceServer, type DeviceAnswer } from './device-server.ts';
import { terminal } from './terminal.ts';

async function signIn(answers: readonly DeviceAnswer[], options = {}) {
  const server = await startDeviceServer({ answers, ...options });
  const user = await terminal();
  const login = ['login', '--api-url', server.origin];
  const { code, stdout, stderr } = await user.run(login, { isTerminal: true });
  return { code, stdout, stderr, user, server };
}

test('the browser is opened at the code, and the key is kept once the code is confirmed', async () => {
  const { code, stdout, stderr, user, server } = await signIn([
    'authorization_pending',
    'authorization_pending',
    'token',
  ]);
  expect(code).toBe(0);
  expect(user.opened).toEqual([`${server.origin}/device?user_code=ABCD-EFGH`]);
  expect(stderr).toContain('ABCD-EFGH');
  expect(user.pauses).toEqual([5_000, 5_000, 5_000]);
  expect(server.bodies()[0]).toEqual({ client_id: 'ras-cli', host_name: hostname() });
  expect(stdout + stderr).not.toContain(KEY.slice(13));
  expect(stdout).toMatch(/^Project +Website \(prj_1\)$/m);
  expect(stdout).toMatch(/^Until +\d{4}-\d\d-\d\d \d\d:\d\d$/m);
  const file = path.join(user.home, '.config/ras/profiles.json');
  expect(JSON.parse(await readFile(file, 'utf8')).profiles.default).toEqual({
    baseUrl: server.origin,
    apiKey: KEY,
    projectId: 'prj_1',
    expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    scopes: ['models:read', 'routines:read', 'runs:read', 'connections:read'],
    dashboardUrl: server.origin,
  });
});

test('each "slow down" adds five seconds to every pause from then on', async () => {
  const { code, user } = await signIn(
    ['authorization_pending', 'slow_down', 'authorization_pending', 'slow_down', 'token'],
    { intervalSeconds: 2 },
  );
  expect(code).toBe(0);
  expect(user.pauses).toEqual([2_000, 2_000, 7_000, 7_000, 12_000]);
});

test('while the service is in trouble it asks less often and goes on', async () => {
  const { code, user } = await signIn(['unavailable', 'unavailable', 'token']);
  expect(code).toBe(0);
  expect(user.pauses).toEqual([5_000, 10_000, 20_000]);
});

test('a code that is refused or expired ends with 4 and keeps nothing', async () => {
  const words: Readonly<Partial<Record<DeviceAnswer, string>>> = {
    access_denied: 'refused in the browser',
    expired_token: 'The code has expired.',
    invalid_grant: 'It is invalid_grant.',
  };
  for (const [answer, message] of Object.entries(words)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key of the object above
    const { code, stdout, stderr, user } = await signIn([answer as DeviceAnswer]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain('Try again: ras login');
    expect(await user.run(['whoami'])).toMatchObject({ code: 4 });
  }
});

test('a code is given up when its time is over, even if the service never says so', async () => {
  const { code, stderr, user, server } = await signIn(['authorization_pending'], {
    expiresInSeconds: 12,
  });
  expect(code).toBe(4);
  expect(stderr).toContain('The code has expired.');
  expect(user.pauses).toEqual([5_000, 5_000, 5_000]);
  expect(server.bodies()).toHaveLength(3);
});

test('Ctrl-C while waiting ends with 130', async () => {
  const server = await startDeviceServer({ answers: ['authorization_pending'] });
  const user = await terminal();
  const { code } = await user.run(['login', '--api-url', server.origin], {
    interruptAt: 'Waiting for the sign-in',
  });
  expect(code).toBe(130);
  expect(server.bodies()).toHaveLength(1);
});

test('without a terminal, and with --no-browser, no browser is started', async () => {
  const server = await startDeviceServer({ answers: ['token'] });
  const user = await terminal();
  const login = ['login', '--api-url', server.origin];
  const piped = await user.run(login);
  expect(piped).toMatchObject({ code: 0, json: { projectId: 'prj_1' } });
  expect(piped.stderr).toContain(`${server.origin}/device?user_code=ABCD-EFGH`);
  await user.run([...login, '--no-browser'], { isTerminal: true });
  expect(user.opened).toEqual([]);
});

test('a service that begins no sign-in is told with its reason', async () => {
  const { code, stderr, server } = await signIn(['token'], { isBusy: true });
  expect(code).toBe(1);
  expect(stderr).toContain(`${server.origin} did not begin a sign-in: Too many sign-ins.`);
});

test('an address that is not of the web is not given to the browser', async () => {
  const { code, user } = await signIn(['token'], { address: 'file:///etc/passwd' });
  expect(code).toBe(1);
  expect(user.opened).toEqual([]);
});

import { randomBytes } from 'node:crypto';
import { expect, vi } from 'vitest';
import { ApiClient, type Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { ago, changeTerminals, giveRole, removeMemberships } from '#test/support/given.ts';
import { fromElsewhere, signUp, type Person } from '#test/support/people.ts';
import { openTerminal, redeem, type Terminal } from '#test/support/terminals.ts';

const test = serviceTest();

const READ = ['models:read', 'runs:read'];

function pathOf({ userCode }: Pick<Terminal, 'userCode'>, step = ''): string {
  return `/v1/terminal-sign-ins/${userCode}${step}`;
}

function approve(person: Person, terminal: Pick<Terminal, 'userCode'>, scopes = READ) {
  return person.session.with({ 'X-Project-Id': person.projectId }).post(pathOf(terminal, '/approve'), { scopes });
}

function errorOf({ status, body }: Answer) {
  return [status, body?.error?.code ?? body?.error];
}

test('after so many invented device codes from a network none is looked up, and a terminal there goes on', async ({
  service,
}) => {
  const terminal = await openTerminal(service);
  expect(errorOf(await terminal.poll())).toEqual([400, 'authorization_pending']);
  const client = new ApiClient(service.url, { 'X-Forwarded-For': terminal.address });
  const invent = (from: ApiClient) => redeem(from, randomBytes(32).toString('base64url'));
  const answers = await Promise.all(Array.from({ length: 40 }, () => invent(client)));
  const errors = answers.map((answer) => errorOf(answer).join(' '));
  expect(errors.filter((error) => error === '400 invalid_grant')).toHaveLength(30);
  expect(errors.filter((error) => error === '429 slow_down')).toHaveLength(10);

  const begun = vi.spyOn(service.deps.database, 'connect');
  const refused = await invent(client);
  expect(begun).not.toHaveBeenCalled();
  begun.mockRestore();
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(errorOf(await terminal.poll())).toEqual([400, 'slow_down']);
  expect(errorOf(await invent(service.anonymous.with(fromElsewhere())))).toEqual([400, 'invalid_grant']);
});

test('a terminal shows a code, a person sees who asks and approves it, and the terminal gets a key of theirs', async ({
  service,
}) => {
  const ada = await signUp(service);
  const terminal = await openTerminal(service);
  const { UI_ORIGIN: uiOrigin } = service.config;
  expect(terminal.begun).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/),
    verification_uri: `${uiOrigin}/device`,
    verification_uri_complete: `${uiOrigin}/device?user_code=${terminal.userCode}`,
    expires_in: 600,
    interval: 5,
  });
  expect(errorOf(await terminal.poll())).toEqual([400, 'authorization_pending']);

  // People type the code in lower case and without the hyphen.
  const typed = { userCode: terminal.userCode.toLowerCase().replace('-', '') };
  const { data } = await ada.session.get(pathOf(typed));
  expect(data).toEqual({
    host: terminal.host,
    address: terminal.address,
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
  });
  expect(Date.parse(data.expiresAt) - Date.parse(data.createdAt)).toBe(600_000);
  expect((await approve(ada, typed)).status).toBe(200);

  const { status, body, headers } = await terminal.poll();
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(body).toEqual({
    access_token: expect.stringMatching(/^ras_/),
    token_type: 'Bearer',
    expires_in: expect.any(Number),
    scope: READ.join(' '),
    project_id: ada.projectId,
  });
  const key = new ApiClient(service.url, { Authorization: `Bearer ${body.access_token}` });
  expect((await key.get('/v1/runs')).status).toBe(200);
  expect(errorOf(await key.get('/v1/routines'))).toEqual([403, 'insufficient_scope']);
  const { data: keys } = await ada.session.get('/v1/api-keys');
  expect(keys).toMatchObject([{ name: terminal.host, scopes: READ, createdBy: { id: ada.userId } }]);
  const { data: events } = await ada.session.get(
    `/v1/audit-events?organizationId=${ada.organizationId}&action=api_key.created`,
  );
  expect(events).toMatchObject([
    {
      actor: { kind: 'person', id: ada.userId },
      targetId: keys[0].id,
      details: { name: terminal.host, scopes: READ, through: 'sign-in of a terminal' },
    },
  ]);
});

test('a code counts once, for the person as for the terminal', async ({ service, ada, bob }) => {
  const terminal = await openTerminal(service);
  const approved = await Promise.all([approve(ada, terminal), approve(bob, terminal)]);
  expect(new Set(approved.map(({ status }) => status))).toEqual(new Set([200, 404]));
  expect(errorOf(await ada.session.get(pathOf(terminal)))).toEqual([404, 'attempt_not_found']);
  expect(errorOf(await bob.session.post(pathOf(terminal, '/deny')))).toEqual([404, 'attempt_not_found']);
  const polled = await Promise.all(Array.from({ length: 5 }, () => terminal.poll()));
  expect(polled.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(polled.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(4);
});

test('a terminal that a person denies is told so, and gets nothing', async ({ service, ada }) => {
  const terminal = await openTerminal(service);
  expect((await ada.session.post(pathOf(terminal, '/deny'))).status).toBe(200);
  expect(errorOf(await terminal.poll())).toEqual([400, 'access_denied']);
  expect(errorOf(await approve(ada, terminal))).toEqual([404, 'attempt_not_found']);
  expect(errorOf(await terminal.poll())).toEqual([400, 'access_denied']);
});

test('after ten minutes both sides are told that the code has expired', async ({ service, ada }) => {
  const { database } = service.deps;
  const terminal = await openTerminal(service);
  await changeTerminals(database, { host: terminal.host }, { expiresAt: ago('1 second') });
  expect(errorOf(await terminal.poll())).toEqual([400, 'expired_token']);
  expect(errorOf(await ada.session.get(pathOf(terminal)))).toEqual([409, 'attempt_expired']);
  expect(errorOf(await approve(ada, terminal))).toEqual([409, 'attempt_expired']);

  const approved = await openTerminal(service);
  await approve(ada, approved);
  await changeTerminals(database, { host: approved.host }, { expiresAt: ago('1 second') });
  expect(errorOf(await approved.poll())).toEqual([400, 'expired_token']);
});

test('a terminal that asks too often is told to slow down, and may go on', async ({ service }) => {
  const terminal = await openTerminal(service);
  const { database } = service.deps;
  expect(errorOf(await terminal.poll())).toEqual([400, 'authorization_pending']);
  expect(errorOf(await terminal.poll())).toEqual([400, 'slow_down']);
  await changeTerminals(database, { host: terminal.host }, { polledAt: ago('5 seconds') });
  expect(errorOf(await terminal.poll())).toEqual([400, 'authorization_pending']);
});

test('wrong codes are ten in a quarter of an hour, and right ones do not count', async ({ service }) => {
  const person = await signUp(service);
  const terminal = await openTerminal(service);
  const guess = () => person.session.get(pathOf({ userCode: 'BBBB-BBBB' }));
  const statuses: number[] = [];
  for (let time = 0; time < 9; time += 1) statuses.push((await guess()).status);
  for (let time = 0; time < 3; time += 1) {
    statuses.push((await person.session.get(pathOf(terminal))).status);
  }
  statuses.push((await guess()).status);
  expect(statuses).toEqual([...times(9, 404), ...times(3, 200), 404]);
  const refused = [
    await person.session.get(pathOf(terminal)),
    await approve(person, terminal),
    await person.session.post(pathOf(terminal, '/deny')),
  ];
  expect(refused.map(errorOf)).toEqual(times(3, [429, 'rate_limited']));
  expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(60);
});

test('one network begins twenty sign-ins in a quarter of an hour', async ({ service }) => {
  const network = service.anonymous.with(fromElsewhere());
  const begin = () => network.post('/v1/auth/device/code', { client_id: 'ras-cli' });
  const answers = await Promise.all(Array.from({ length: 22 }, begin));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.body).toMatchObject({ error: 'slow_down' });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
});

test('a member approves a key that reads, and none that writes', async ({ service, ada }) => {
  const grace = await signUp(service);
  const { organizationId, projectId } = ada;
  await giveRole(service.deps.database, organizationId, grace.userId, 'member');
  const member = { ...grace, projectId };
  const terminal = await openTerminal(service);
  const writing = await approve(member, terminal, ['runs:read', 'runs:write']);
  expect(errorOf(writing)).toEqual([403, 'forbidden']);
  expect((await approve(member, terminal)).status).toBe(200);
  expect((await terminal.poll()).status).toBe(200);
});

test('what the person may do is looked at again when the terminal fetches its key', async ({ service, ada }) => {
  const { database } = service.deps;
  const grace = await signUp(service);
  const { organizationId, projectId } = ada;
  const { userId } = grace;
  const member = { ...grace, projectId };
  const fetchAfter = async (change: () => Promise<unknown>) => {
    await giveRole(database, organizationId, userId, 'admin');
    const terminal = await openTerminal(service);
    expect((await approve(member, terminal, ['runs:write'])).status).toBe(200);
    await change();
    return [errorOf(await terminal.poll()), errorOf(await terminal.poll())];
  };
  const refused = [
    [400, 'access_denied'],
    [400, 'invalid_grant'],
  ];
  const demoted = () => giveRole(database, organizationId, userId, 'member');
  expect(await fetchAfter(demoted)).toEqual(refused);
  const removed = () => removeMemberships(database, { organizationId, userId });
  expect(await fetchAfter(removed)).toEqual(refused);
});

test('a project of others is not to be had, and neither is anything without a session or by a key', async ({
  service,
  ada,
  bob,
  key,
}) => {
  const terminal = await openTerminal(service);
  const foreign = await approve({ ...bob, projectId: ada.projectId }, terminal);
  expect(errorOf(foreign)).toEqual([404, 'project_not_found']);
  for (const step of ['/approve', '/deny']) {
    const path = pathOf(terminal, step);
    expect((await service.anonymous.post(path, { scopes: READ })).status).toBe(401);
    expect(errorOf(await key.post(path, { scopes: READ }))).toEqual([403, 'session_required']);
    const elsewhere = ada.session.with({ Origin: 'https://evil.example' });
    expect(errorOf(await elsewhere.post(path, { scopes: READ }))).toEqual([403, 'origin_not_allowed']);
  }
  expect(errorOf(await terminal.poll())).toEqual([400, 'authorization_pending']);
});

test('what a stranger writes as its name is shown as a host name', async ({ service, ada }) => {
  const names = {
    '  Ada’s MacBook\u202e.local ': 'Ada-s-MacBook-.local',
    '<b>Support</b> please confirm': 'b-Support-b-please-confirm',
    ['x'.repeat(200)]: 'x'.repeat(63),
    '…': 'unnamed-host',
  };
  for (const [name, shown] of Object.entries(names)) {
    const client = service.anonymous.with(fromElsewhere());
    const { body } = await client.post('/v1/auth/device/code', {
      client_id: 'ras-cli',
      host_name: name,
    });
    const { data } = await ada.session.get(pathOf({ userCode: body.user_code }));
    expect(data.host).toBe(shown);
  }
});

test('requests that the standard does not know are refused in its form', async ({ service }) => {
  const client = service.anonymous.with(fromElsewhere());
  const code = '/v1/auth/device/code';
  for (const body of [{}, { client_id: 'other' }, { client_id: 'ras-cli', host_name: 1 }, '[', '"']) {
    const answer = await client.post(code, body);
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.any(String) },
    ]);
  }
  const form = client.with({ 'Content-Type': 'application/x-www-form-urlencoded' });
  expect(errorOf(await form.post(code, 'client_id=ras-cli'))).toEqual([415, 'invalid_request']);
  expect(errorOf(await client.get(code))).toEqual([405, 'method_not_allowed']);
  expect(errorOf(await redeem(client, 'unknown'))).toEqual([400, 'invalid_grant']);
});

test('the database holds neither code', async ({ service }) => {
  const { userCode, deviceCode, host } = await openTerminal(service);
  const [stored] = await service.deps.database.rows<{ text: string }>`
    select concat_ws(' ', t::text, encode(device_hash, 'escape'), encode(user_code_hash, 'escape')) as text
    from terminal_sign_ins t where host = ${host}
  `;
  for (const code of [userCode, userCode.replace('-', ''), deviceCode]) {
    expect(stored?.text).not.toContain(code);
  }
  expect(stored?.text).toContain(host);
});

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

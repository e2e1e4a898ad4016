import { expect, vi } from 'vitest';
import { forgetExpired } from '#core/scheduling/index.ts';
import { authenticateMcpToken } from '#core/accounts/programs/index.ts';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import {
  ago,
  changeAssistants,
  changeAssistantTokens,
  changeConsents,
  changeOrganizations,
  changeRefreshTokens,
  giveRole,
  ifAny,
} from '#test/support/given.ts';
import { approveAsked, codeOf, connect, enterAssistant, exchange } from '#test/support/assistants.ts';
import { PASSWORD, signUp, type Person } from '#test/support/people.ts';

const test = serviceTest().extend('accessOf', ({ service }) => async (token: string) => {
  const found = await authenticateMcpToken(service.deps, token);
  return found?.scopes;
});

const READ = ['routines:read', 'runs:read'];

test('an assistant asks, a person gives it a project and access, and it acts for them there', async ({ service }) => {
  const ada = await signUp(service);
  const assistant = await enterAssistant(service);
  const asked = await assistant.ask();
  expect(`${asked.page.origin}${asked.page.pathname}`).toBe(`${service.config.UI_ORIGIN}/authorize`);

  const { data: shown } = await ada.session.post('/v1/assistant-consents/read', {
    oauthQuery: asked.oauthQuery,
  });
  expect(shown).toEqual({
    clientId: assistant.clientId,
    clientName: assistant.name,
    redirectHost: 'assistant.example',
    isVerified: true,
    scopes: ['routines:read', 'routines:write', 'runs:read', 'runs:write'],
  });

  const { status, data } = await approveAsked(ada, asked);
  expect(status).toBe(200);
  const back = new URL(data.redirectTo);
  expect(`${back.origin}${back.pathname}`).toBe(assistant.redirectUri);
  expect(back.searchParams.get('state')).toBe('a state of the client');
  expect(back.searchParams.get('iss')).toBe(`${service.config.PUBLIC_URL}/auth`);
  const given = await exchange(assistant, asked, codeOf(data.redirectTo));
  expect(given).toMatchObject({
    status: 200,
    body: {
      access_token: expect.stringMatching(/^ras_at_/),
      refresh_token: expect.stringMatching(/^ras_rt_/),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'routines:read runs:read offline_access',
    },
  });
  expect(await authenticateMcpToken(service.deps, given.body.access_token)).toEqual({
    projectId: ada.projectId,
    organizationId: ada.organizationId,
    userId: ada.userId,
    grantId: expect.any(String),
    clientId: assistant.clientId,
    clientName: assistant.name,
    scopes: READ,
    paidPlan: null,
  });
});

function errorOf({ status, body }: Pick<Answer, 'status' | 'body'>) {
  return [status, body?.error?.code ?? body?.error];
}

/** Returns the error in the address to which the browser is redirected, and whether that is the client's address. */
function refusalOf(page: URL) {
  return [page.origin, page.searchParams.get('error')];
}

test('a request without PKCE by S256 is refused, and so is another verifier', async ({ service, ada }) => {
  const assistant = await enterAssistant(service);
  const refused = ['https://assistant.example', 'invalid_request'];
  const none = await assistant.ask({
    code_challenge: undefined,
    code_challenge_method: undefined,
  });
  expect(refusalOf(none.page)).toEqual(refused);
  const plain = await assistant.ask({ code_challenge_method: 'plain' });
  expect(refusalOf(plain.page)).toEqual(refused);
  const asked = await assistant.ask();
  const { data } = await approveAsked(ada, asked);
  const other = await assistant.ask();
  const given = await exchange(assistant, other, codeOf(data.redirectTo));
  expect(errorOf(given)).toEqual([401, 'invalid_request']);
});

test('the browser is led to registered addresses only, and an app on the machine takes any port', async ({
  service,
}) => {
  const { UI_ORIGIN: ui } = service.config;
  const assistant = await enterAssistant(service);
  for (const redirect_uri of [
    'https://assistant.example/callback/more',
    'https://assistant.example/callback?x=1',
    'https://assistant.example.evil.example/callback',
    'https://assistant.example:8443/callback',
    'http://assistant.example/callback',
    'https://assistant.example/CALLBACK',
    'javascript:alert(1)',
  ]) {
    const { page } = await assistant.ask({ redirect_uri });
    expect([redirect_uri, page.origin, page.searchParams.has('error')]).toEqual([redirect_uri, ui, true]);
  }
  const { page } = await assistant.ask({ client_id: 'unknown' });
  expect(refusalOf(page)).toEqual([ui, 'invalid_client']);
  const app = await enterAssistant(service, 'http://127.0.0.1/callback');
  const onPort = await app.ask({ redirect_uri: 'http://127.0.0.1:49152/callback' });
  expect(onPort.page.pathname).toBe('/authorize');
  expect(onPort.page.searchParams.has('error')).toBe(false);
});

test('a code counts once: used again, it takes back what it gave', async ({ service, ada, accessOf }) => {
  const assistant = await enterAssistant(service);
  const asked = await assistant.ask();
  const { data } = await approveAsked(ada, asked);
  const code = codeOf(data.redirectTo);
  const { body } = await exchange(assistant, asked, code);
  expect(await accessOf(body.access_token)).toEqual(READ);
  expect(errorOf(await exchange(assistant, asked, code))).toEqual([400, 'invalid_grant']);
  expect(await accessOf(body.access_token)).toBeUndefined();
});

test('a code is for its client and its address', async ({ service, ada }) => {
  const [assistant, other] = [await enterAssistant(service), await enterAssistant(service)];
  for (const [as, changes] of [
    [other, {}],
    [assistant, { redirect_uri: 'https://assistant.example/other' }],
  ] as const) {
    const asked = await assistant.ask();
    const { data } = await approveAsked(ada, asked);
    const given = await exchange(as, asked, codeOf(data.redirectTo), changes);
    expect(errorOf(given)).toEqual([400, 'invalid_grant']);
  }
});

test('a refresh token is exchanged once for new ones: used again after half a minute, it ends them all', async ({
  service,
  ada,
  accessOf,
}) => {
  const assistant = await enterAssistant(service);
  const { body: first } = await connect(assistant, ada);
  const refresh = (token: string, more = {}) =>
    assistant.call('token', { grant_type: 'refresh_token', refresh_token: token, ...more });
  const { status, body: second } = await refresh(first.refresh_token);
  expect([status, second.scope]).toEqual([200, 'routines:read runs:read offline_access']);
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(await accessOf(second.access_token)).toEqual(READ);
  expect(errorOf(await refresh(second.refresh_token, { scope: 'connections:write' }))).toEqual([400, 'invalid_scope']);

  await passReuse(service, assistant.clientId);
  expect(errorOf(await refresh(first.refresh_token))).toEqual([400, 'invalid_grant']);
  expect(await accessOf(second.access_token)).toBeUndefined();
  expect(errorOf(await refresh(second.refresh_token))).toEqual([400, 'invalid_grant']);
});

/** Lets the time pass in which an exchange may be repeated. */
async function passReuse({ deps }: Parameters<typeof enterAssistant>[0], clientId: string): Promise<void> {
  await changeRefreshTokens(deps.database, ifAny({ clientId }), { rotationReplayExpiresAt: ago('1 second') });
}

/** Connects one assistant to three projects of a person. */
async function inThreeProjects(service: Parameters<typeof enterAssistant>[0] & Parameters<typeof signUp>[0]) {
  const ada = await signUp(service);
  const assistant = await enterAssistant(service);
  const projects = [ada.projectId];
  for (const name of ['Second', 'Third']) {
    const { data } = await ada.session.post('/v1/projects', { organizationId: ada.organizationId, name });
    projects.push(data.id);
  }
  const connected = [];
  for (const projectId of projects) {
    const { body } = await connect(assistant, { session: ada.session, projectId });
    connected.push({ projectId, ...body });
  }
  return { ada, assistant, connected };
}

test('a refresh that is asked for again, as its response was lost, gets the same tokens', async ({
  service,
  accessOf,
}) => {
  const { assistant, connected } = await inThreeProjects(service);
  const token = connected[0]?.refresh_token;
  const refresh = () => assistant.call('token', { grant_type: 'refresh_token', refresh_token: token });
  const lost = await refresh();
  const again = await refresh();
  expect(again.status).toBe(200);
  expect(again.body.refresh_token).toBe(lost.body.refresh_token);
  for (const { access_token: access } of [again.body, ...connected]) expect(await accessOf(access)).toEqual(READ);
  const next = await assistant.call('token', { grant_type: 'refresh_token', refresh_token: again.body.refresh_token });
  expect(next.status).toBe(200);
});

test('workers of an assistant that refresh with one token at once are all signed in', async ({ service, accessOf }) => {
  const { assistant, connected } = await inThreeProjects(service);
  for (const { refresh_token: token } of connected) {
    const all = await Promise.all(
      Array.from({ length: 4 }, () => assistant.call('token', { grant_type: 'refresh_token', refresh_token: token })),
    );
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(all.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect(await accessOf(all[0]?.body.access_token)).toEqual(READ);
  }
});

test('a refresh token that comes again later ends the access to its project, on record, and to no other', async ({
  service,
  accessOf,
}) => {
  for (const endpoint of ['token', 'revoke'] as const) {
    const { ada, assistant, connected } = await inThreeProjects(service);
    const [first, ...others] = connected;
    const refresh = (token: string) => assistant.call('token', { grant_type: 'refresh_token', refresh_token: token });
    const { body: second } = await refresh(first.refresh_token);
    await passReuse(service, assistant.clientId);
    const used =
      endpoint === 'token'
        ? await refresh(first.refresh_token)
        : await assistant.call('revoke', { token: first.refresh_token });
    expect(used.status).toBe(endpoint === 'token' ? 400 : 200);
    expect(await accessOf(second.access_token)).toBeUndefined();
    for (const other of others) {
      expect(await accessOf(other.access_token)).toEqual(READ);
      expect((await refresh(other.refresh_token)).status).toBe(200);
    }
    const data = await endedOf(ada);
    expect(data).toEqual([
      {
        by: 'system',
        projectId: first.projectId,
        details: { name: assistant.name, grantedBy: ada.userId, because: 'a refresh token came again after its use' },
      },
    ]);
  }
});

test('a consent of which no token is left ends on record', async ({ service }) => {
  const { ada, assistant, connected } = await inThreeProjects(service);
  const [first] = connected;
  await assistant.call('revoke', { token: first.refresh_token });
  await changeConsents(service.deps.database, ifAny({ clientId: assistant.clientId }), { updatedAt: ago('2 hours') });
  await forgetExpired(service.deps, new AbortController().signal);
  const data = await endedOf(ada);
  expect(data).toMatchObject([{ projectId: first.projectId, details: { because: 'none of its tokens was left' } }]);
  expect(await storedOf(service, assistant.clientId)).toEqual([2, 2, 2]);
});

/** Lists from the audit log the assistants that the service disconnected. */
async function endedOf({ session, organizationId }: Person) {
  const path = `/v1/audit-events?organizationId=${organizationId}&action=assistant.disconnected`;
  const { data } = await session.get(path);
  return data.map(({ actor, projectId, details }: Record<string, { kind: string }>) => ({
    by: actor?.kind,
    projectId,
    details,
  }));
}

test('a token is for this resource: another is not to be had, and a token for it is not taken', async ({
  service,
  ada,
  accessOf,
}) => {
  const { database } = service.deps;
  const assistant = await enterAssistant(service);
  const { page } = await assistant.ask({ resource: 'https://other.example/mcp' });
  expect(refusalOf(page)).toEqual(['https://assistant.example', 'invalid_target']);
  // A request without a resource means the only one.
  const asked = await assistant.ask({ resource: undefined });
  const { data } = await approveAsked(ada, asked);
  const other = await exchange(assistant, asked, codeOf(data.redirectTo), {
    resource: 'https://other.example/mcp',
  });
  expect(errorOf(other)).toEqual([400, 'invalid_target']);

  const { body } = await connect(assistant, ada);
  expect(await accessOf(body.access_token)).toEqual(READ);
  for (const resources of ['["https://other.example/mcp"]', '[]', null]) {
    await changeAssistantTokens(database, { clientId: assistant.clientId }, { resources });
    expect(await accessOf(body.access_token)).toBeUndefined();
  }
});

test('what is no access token of ours is none', async ({ service, ada, accessOf }) => {
  const assistant = await enterAssistant(service);
  const { body } = await connect(assistant, ada);
  const key = (await ada.key()).headers['Authorization']!.slice('Bearer '.length);
  const token: string = body.access_token;
  for (const bearer of [
    '',
    key,
    body.refresh_token,
    token.slice('ras_at_'.length),
    `${token}x`,
    token.toLowerCase(),
    `ras_at_${'x'.repeat(5_000)}`,
    'ras_at_\u0000',
  ]) {
    expect(await accessOf(bearer)).toBeUndefined();
  }
});

test('access ends with its time, its client, its project and the switch of the project', async ({
  service,
  accessOf,
}) => {
  const { database } = service.deps;
  const ada = await signUp(service);
  const assistant = await enterAssistant(service);
  const { clientId } = assistant;
  const { body } = await connect(assistant, ada);
  const project = `/v1/projects/${ada.projectId}`;

  await ada.session.patch(project, { mcpEnabled: false });
  expect(await accessOf(body.access_token)).toBeUndefined();
  const while_off = await approveAsked(ada, await assistant.ask());
  expect(errorOf(while_off)).toEqual([403, 'forbidden']);
  await ada.session.patch(project, { mcpEnabled: true });
  expect(await accessOf(body.access_token)).toEqual(READ);

  await changeAssistants(database, { clientId }, { disabled: true });
  expect(await accessOf(body.access_token)).toBeUndefined();
  await changeAssistants(database, { clientId }, { disabled: null });
  expect(await accessOf(body.access_token)).toEqual(READ);

  await changeAssistantTokens(database, { clientId }, { expiresAt: ago('1 second') });
  expect(await accessOf(body.access_token)).toBeUndefined();

  const { body: again } = await connect(assistant, ada);
  const { data } = await ada.session.get(project);
  await ada.session.delete(`${project}?confirm=${encodeURIComponent(data.name)}`);
  expect(await accessOf(again.access_token)).toBeUndefined();
  expect(await storedOf(service, clientId)).toEqual([0, 0, 0]);
});

/** Counts the consents, access tokens and refresh tokens of a client. */
async function storedOf(service: Parameters<typeof enterAssistant>[0], clientId: string) {
  const [found] = await service.deps.database.rows<{ counts: number[] }>`
    select array[(select count(*) from oauth_consents where client_id = ${clientId}),
      (select count(*) from oauth_access_tokens where client_id = ${clientId}),
      (select count(*) from oauth_refresh_tokens where client_id = ${clientId})]::integer[] as counts
  `;
  return found?.counts;
}

test('who leaves, is demoted or lacks the second factor takes along what an assistant could do for them', async ({
  service,
  accessOf,
}) => {
  const { database } = service.deps;
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const { organizationId, projectId } = owner;
  await giveRole(database, organizationId, grace.userId, 'admin');
  const member = { ...grace, projectId };
  const assistant = await enterAssistant(service);
  const all = ['routines:read', 'routines:write', 'runs:read', 'runs:write'];
  const { body } = await connect(assistant, member, all);
  const scopes = async () => (await accessOf(body.access_token))?.toSorted(compare);
  expect(await scopes()).toEqual(all);

  const path = `/v1/organizations/${organizationId}/members/${grace.userId}`;
  await owner.session.patch(path, { role: 'member' });
  expect(await scopes()).toEqual(READ);
  const writing = await approveAsked(member, await assistant.ask(), all);
  expect(errorOf(writing)).toEqual([403, 'forbidden']);
  await demandFactor(database, organizationId, true);
  expect(await scopes()).toBeUndefined();
  await demandFactor(database, organizationId, false);
  expect(await scopes()).toEqual(READ);

  expect((await owner.session.delete(path)).status).toBe(200);
  expect(await scopes()).toBeUndefined();
  // A person who returns to the organization does not get the old tokens back.
  await giveRole(database, organizationId, grace.userId, 'admin');
  expect(await scopes()).toBeUndefined();
  expect(await storedOf(service, assistant.clientId)).toEqual([0, 0, 0]);
});

test('a deleted account leaves nothing of its assistants', async ({ service, accessOf }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  await giveRole(service.deps.database, owner.organizationId, grace.userId, 'member');
  const assistant = await enterAssistant(service);
  const { body } = await connect(assistant, { ...grace, projectId: owner.projectId });
  await giveRole(service.deps.database, grace.organizationId, owner.userId, 'owner');
  const deleted = await grace.session.post('/auth/delete-user', { password: PASSWORD });
  expect(deleted.status).toBe(200);
  expect(await accessOf(body.access_token)).toBeUndefined();
  expect(await storedOf(service, assistant.clientId)).toEqual([0, 0, 0]);
});

test('people see and revoke what they connected, and owners also what others did', async ({ service, accessOf }) => {
  const [owner, grace] = [await signUp(service), await signUp(service)];
  const { organizationId, projectId } = owner;
  await giveRole(service.deps.database, organizationId, grace.userId, 'member');
  const member = { ...grace, projectId };
  const assistant = await enterAssistant(service);
  const [ownersToken, membersToken] = [
    (await connect(assistant, owner)).body.access_token,
    (await connect(assistant, member)).body.access_token,
  ];
  const of = (person: Person) => person.session.with({ 'X-Project-Id': projectId });
  const { data: listed } = await of(owner).get('/v1/assistants');
  expect(listed).toHaveLength(2);
  const [membersGrant, ownersGrant] = [
    listed.find((each: Listed) => each.grantedBy.id === grace.userId),
    listed.find((each: Listed) => each.grantedBy.id === owner.userId),
  ];
  expect(membersGrant).toEqual({
    id: expect.any(String),
    clientName: assistant.name,
    isVerified: true,
    scopes: READ,
    grantedBy: { id: grace.userId, name: 'Test Person' },
    createdAt: expect.any(String),
    lastUsedAt: null,
  });
  await accessOf(membersToken);
  const { data: used } = await of(member).get('/v1/assistants');
  expect(used.filter(({ lastUsedAt }: Listed) => lastUsedAt !== null)).toHaveLength(1);

  const foreign = await of(member).delete(`/v1/assistants/${ownersGrant.id}`);
  expect(errorOf(foreign)).toEqual([403, 'forbidden']);
  const elsewhere = grace.session.with({ 'X-Project-Id': grace.projectId });
  expect(errorOf(await elsewhere.delete(`/v1/assistants/${membersGrant.id}`))).toEqual([404, 'assistant_not_found']);
  expect((await of(owner).delete(`/v1/assistants/${membersGrant.id}`)).status).toBe(200);
  expect(await accessOf(membersToken)).toBeUndefined();
  expect(await accessOf(ownersToken)).toEqual(READ);
  expect((await of(owner).delete(`/v1/assistants/${ownersGrant.id}`)).status).toBe(200);
  expect(await accessOf(ownersToken)).toBeUndefined();
  expect(await storedOf(service, assistant.clientId)).toEqual([0, 0, 0]);
  const { data: events } = await owner.session.get(
    `/v1/audit-events?organizationId=${organizationId}&targetId=${assistant.clientId}`,
  );
  expect(events.map(({ action }: { action: string }) => action)).toEqual([
    'assistant.disconnected',
    'assistant.disconnected',
    'assistant.connected',
    'assistant.approved',
    'assistant.connected',
    'assistant.approved',
  ]);
});

interface Listed {
  readonly grantedBy: { readonly id: string };
  readonly lastUsedAt: string | null;
}

test('no consent stands without an event, also when the process ends right after it was given', async ({ service }) => {
  const ada = await signUp(service);
  const assistant = await enterAssistant(service);
  const asked = await assistant.ask();
  const decide = vi.spyOn(service.deps.auth, 'decideConsent').mockImplementationOnce(async (decision) => {
    await service.deps.auth.decideConsent(decision);
    throw new Error('the process ends here');
  });
  const { status } = await approveAsked(ada, asked, ['runs:read', 'runs:write']);
  decide.mockRestore();
  expect(status).toBe(500);
  expect(await storedOf(service, assistant.clientId)).toEqual([1, 0, 0]);
  const path = `/v1/audit-events?organizationId=${ada.organizationId}&targetId=${assistant.clientId}`;
  expect((await ada.session.get(path)).data).toMatchObject([
    { action: 'assistant.approved', actor: { id: ada.userId }, details: { scopes: ['runs:read', 'runs:write'] } },
  ]);
});

test('the page of an assistant costs one write of the resource a process, however often it is asked for', async ({
  service,
}) => {
  const assistant = await enterAssistant(service);
  await assistant.ask();
  const statements = vi.spyOn(service.deps.database, 'run');
  for (let asked = 0; asked < 5; asked += 1) await assistant.ask();
  const texts = statements.mock.calls.map(([text]) => String(text));
  statements.mockRestore();
  expect(texts.filter((text) => text.includes('oauth_resources'))).toEqual([]);
});

test('an assistant gives its tokens back itself', async ({ service, ada, accessOf }) => {
  const assistant = await enterAssistant(service);
  const { body } = await connect(assistant, ada);
  const revoked = await assistant.call('revoke', { token: body.refresh_token });
  expect(revoked.status).toBe(200);
  expect(await accessOf(body.access_token)).toBeUndefined();
});

test('what was asked for cannot be changed on the way, nor approved late', async ({ service, ada }) => {
  const assistant = await enterAssistant(service);
  const asked = await assistant.ask({ scope: 'runs:read' });
  const forged = (name: string, value: string) => {
    const query = new URLSearchParams(asked.oauthQuery);
    query.set(name, value);
    return { oauthQuery: query.toString() };
  };
  const beyond = await approveAsked(ada, asked, ['runs:write']);
  expect(errorOf(beyond)).toEqual([400, 'invalid_request']);
  const wider = await approveAsked(ada, forged('scope', 'runs:write'), ['runs:write']);
  expect(errorOf(wider)).toEqual([409, 'attempt_expired']);
  const elsewhere = forged('redirect_uri', 'https://evil.example/callback');
  expect(errorOf(await approveAsked(ada, elsewhere, ['runs:read']))).toEqual([404, 'attempt_not_found']);
  const late = forged('exp', String(Math.floor(Date.now() / 1_000) - 1));
  expect(errorOf(await approveAsked(ada, late, ['runs:read']))).toEqual([409, 'attempt_expired']);
  const later = forged('exp', String(Math.floor(Date.now() / 1_000) + 86_400));
  expect(errorOf(await approveAsked(ada, later, ['runs:read']))).toEqual([409, 'attempt_expired']);
  const [stored] = [await storedOf(service, assistant.clientId)];
  expect(stored).toEqual([0, 0, 0]);
});

test('a person denies, and the assistant is told so', async ({ service, ada }) => {
  const assistant = await enterAssistant(service);
  const { oauthQuery } = await assistant.ask();
  const { data } = await ada.session.post('/v1/assistant-consents/deny', { oauthQuery });
  const back = new URL(data.redirectTo);
  expect(refusalOf(back)).toEqual(['https://assistant.example', 'access_denied']);
  expect(back.searchParams.get('state')).toBe('a state of the client');
});

test('each request is decided by a person, also of an assistant that has access', async ({ service, ada }) => {
  const assistant = await enterAssistant(service);
  await connect(assistant, ada);
  const { page } = await assistant.ask();
  expect([page.pathname, page.searchParams.has('code')]).toEqual(['/authorize', false]);
  const silent = await assistant.ask({ prompt: 'none' });
  expect(refusalOf(silent.page)).toEqual(['https://assistant.example', 'login_required']);
});

test('consents that a person gives at once, some in the same project, all count and stay apart', async ({
  service,
}) => {
  const ada = await signUp(service);
  const { data: other } = await ada.session.post('/v1/projects', {
    organizationId: ada.organizationId,
    name: 'Other',
  });
  const assistant = await enterAssistant(service);
  const projects = Array.from({ length: 4 }, () => [ada.projectId, other.id]).flat();
  const asked = await Promise.all(projects.map(() => assistant.ask()));
  const approved = await Promise.all(
    asked.map((each, place) => approveAsked({ ...ada, projectId: projects[place] }, each)),
  );
  expect(approved.map(({ status }) => status)).toEqual(projects.map(() => 200));
  const given = await Promise.all(
    asked.map((each, place) => exchange(assistant, each, codeOf(approved[place]!.data.redirectTo))),
  );
  const access = await Promise.all(given.map(({ body }) => authenticateMcpToken(service.deps, body.access_token)));
  expect(access.map((each) => each?.projectId)).toEqual(projects);
});

test('neither a key nor a stranger nor a page of another origin decides', async ({ service, ada, key }) => {
  const assistant = await enterAssistant(service);
  const { oauthQuery } = await assistant.ask();
  for (const step of ['read', 'approve', 'deny']) {
    const path = `/v1/assistant-consents/${step}`;
    const body = { oauthQuery, ...(step === 'approve' && { scopes: READ }) };
    expect((await service.anonymous.post(path, body)).status).toBe(401);
    expect(errorOf(await key.post(path, body))).toEqual([403, 'session_required']);
    const elsewhere = ada.session.with({ Origin: 'https://evil.example' });
    expect(errorOf(await elsewhere.post(path, body))).toEqual([403, 'origin_not_allowed']);
  }
});

test('the database holds no token and no code', async ({ service, ada }) => {
  const assistant = await enterAssistant(service);
  const asked = await assistant.ask();
  const { data } = await approveAsked(ada, asked);
  const code = codeOf(data.redirectTo);
  const { database } = service.deps;
  const verifications = await database.rows`select v::text as text from verifications v`;
  expect(JSON.stringify(verifications)).toContain(assistant.clientId);
  expect(JSON.stringify(verifications)).not.toContain(code);
  const { body } = await exchange(assistant, asked, code);
  const stored = JSON.stringify([
    await database.rows`select t::text as text from oauth_access_tokens t`,
    await database.rows`select t::text as text from oauth_refresh_tokens t`,
  ]);
  expect(stored).toContain(assistant.clientId);
  for (const token of [body.access_token, body.refresh_token]) {
    expect(stored).not.toContain(token.slice('ras_at_'.length));
  }
});

test('where the operator has not allowed it, no assistant registers itself', async ({ service }) => {
  const response = await fetch(`${service.url}/.well-known/oauth-authorization-server/auth`);
  expect(await response.json()).not.toHaveProperty('registration_endpoint');
  const { status } = await service.anonymous.post('/auth/oauth2/register', {
    redirect_uris: ['https://assistant.example/callback'],
  });
  expect(status).toBe(404);
});

function compare(a: string, b: string): number {
  return a.localeCompare(b);
}

function demandFactor(
  database: Parameters<typeof changeOrganizations>[0],
  organizationId: string,
  requiresSecondFactor: boolean,
): Promise<void> {
  return changeOrganizations(database, organizationId, { requiresSecondFactor });
}

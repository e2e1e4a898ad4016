import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { revokeAccountsOfMember, revokeAccountsOfProject } from '#core/upkeep/deletion/index.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import { proves } from '#test/support/proves.ts';
import { createRoutine } from '#test/support/routines.ts';
import {
  connectByDevice,
  connectByOAuth,
  connectionOf,
  connectWithKey,
  goodKey,
  newColleague,
  newOwner,
  revoke,
  startModelFixture,
  storedRow,
  type ModelFixture,
  type OwnSession,
} from './fixture.ts';
import { ahead, changeRevocations, changeRoutines, changeWork, removeMemberships } from '#test/support/given.ts';

let fixture: ModelFixture;
let ada: OwnSession;

beforeAll(async () => {
  fixture = await startModelFixture();
});
beforeEach(async () => {
  ada = await newOwner(fixture);
  const { control } = fixture.authorizationServer;
  control.revocationRequests.length = 0;
  control.revocationFaults.length = 0;
});
afterAll(() => fixture.close());

/** Makes an active routine on an account, as after its proof run. */
async function activeRoutineOn({ person }: OwnSession, connectionId: string, provider: string) {
  const id = await createRoutine(await person.key());
  await changeRoutines(fixture.service.deps.database, id, {
    modelProvider: provider,
    modelConnectionId: connectionId,
    modelId: 'fixture/account-small',
    state: 'active',
    nextRunAt: ahead('1 day'),
  });
  return id;
}

function actorOf({ person }: OwnSession) {
  return { kind: 'person', id: person.userId, address: null } as const;
}

/** Reads a credential that waits for its revocation, with the attempts so far. */
function kept(connectionId: string) {
  return fixture.service.deps.database.row<{ attempts: number }>`
    select w.attempts from model_revocations r left join work w on w.kind = 'revocation' and w.key = r.connection_id
    where r.connection_id = ${connectionId}
  `;
}

/** Runs the part of a tick that revokes credentials. */
function keepHouse() {
  return createTickParts(fixture.service.deps).housekeeping(new AbortController().signal);
}

test(
  'revoking ends the use of an account at once, tells the provider, and keeps the record',
  proves('POST /v1/model-connections/:connectionId/revoke'),
  async () => {
    const { control } = fixture.authorizationServer;
    const account = await connectByDevice(fixture, ada.session, { account: 'leaving' });
    const routineId = await activeRoutineOn(ada, account.id, 'provider-a');
    const elsewhere = await activeRoutineOn(ada, 'mcn_other', 'provider-a');
    const revoked = await revoke(ada.session, account.id);
    expect(revoked.status).toBe(200);
    expect(revoked.data).toMatchObject({
      id: account.id,
      provider: 'provider-a',
      accountLabel: 'l…@fixture.example',
      status: 'revoked',
      error: null,
      createdAt: account.createdAt,
      validatedAt: account.validatedAt,
      revocation: {
        revokedBy: ada.person.userId,
        reason: 'owner',
        pausedRoutineCount: 1,
        revokedAt: expect.any(String),
      },
    });
    await expect
      .poll(async () => (await connectionOf(ada.session, account.id)).revocation.providerRevocation)
      .toBe('revoked');
    expect(control.revocationRequests).toEqual(['refresh_token']);
    expect(await kept(account.id)).toBeUndefined();
    expect((await storedRow(fixture, account.id))['credential']).toBeNull();
    const key = await ada.person.key();
    expect((await key.get(`/v1/routines/${routineId}`)).data).toMatchObject({
      state: 'paused',
      stateReason: 'its model account was revoked by its owner',
      nextRunAt: null,
    });
    expect((await key.get(`/v1/routines/${elsewhere}`)).data.state).toBe('active');
    const models = await ada.session.get(`/v1/model-connections/${account.id}/models`);
    expect([models.status, models.body.error.code]).toEqual([409, 'connection_not_ready']);
    const again = await revoke(ada.session, account.id);
    expect(again.data.revocation.revokedAt).toBe(revoked.data.revocation.revokedAt);
    expect(control.revocationRequests).toHaveLength(1);
    // The same account, connected again, is another connection.
    const second = await connectByDevice(fixture, ada.session, { account: 'leaving' });
    expect(second.id).not.toBe(account.id);
  },
);

test('an API key is not revoked at its provider', async () => {
  const { data } = await connectWithKey(ada.session, goodKey(fixture));
  const revoked = await revoke(ada.session, data.id);
  expect(revoked.data.revocation.providerRevocation).toBe('unsupported');
  expect((await storedRow(fixture, data.id))['credential']).toBeNull();
  expect(await kept(data.id)).toBeUndefined();
});

test('a provider that fails is asked again later, for a day, and then the credential is erased anyway', async () => {
  const { control } = fixture.authorizationServer;
  const { deps } = fixture.service;
  control.revocationFaults.push(500, 503);
  const account = await connectByDevice(fixture, ada.session);
  const revoked = await revoke(ada.session, account.id);
  expect(revoked.data.revocation.providerRevocation).toBe('pending');
  await expect.poll(() => control.revocationRequests).toEqual(['faulty']);
  await expect.poll(async () => (await kept(account.id))?.attempts).toBe(1);
  // The credential is not due yet.
  await keepHouse();
  expect(control.revocationRequests).toHaveLength(1);
  const connectionId = account.id;
  const due = () => changeWork(deps.database, { kind: 'revocation', key: connectionId }, { dueAt: AT_ONCE });
  await due();
  await keepHouse();
  expect(control.revocationRequests).toHaveLength(2);
  await changeRevocations(deps.database, { connectionId }, { giveUpAt: AT_ONCE });
  await due();
  await keepHouse();
  expect(control.revocationRequests).toHaveLength(2);
  expect(await kept(account.id)).toBeUndefined();
  const listed = await connectionOf(ada.session, account.id);
  expect(listed.revocation.providerRevocation).toBe('failed');
});

test('only its owner revokes an account', async () => {
  const { data } = await connectByOAuth(fixture, ada.session);
  const colleague = await newColleague(fixture, ada.person);
  const refused = await revoke(colleague.session, data.id);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'owner_required']);
  const stranger = await newOwner(fixture);
  const foreign = await revoke(stranger.session, data.id);
  expect([foreign.status, foreign.body.error.code]).toEqual([404, 'connection_not_found']);
  // The colleague sees the connection, like everyone in the project, and cannot replace it either.
  const seen = await connectionOf(colleague.session, data.id);
  expect(seen).toMatchObject({ status: 'ready', owner: { userId: ada.person.userId } });
  const replaced = await colleague.session.post('/v1/model-connections/provider-b/oauth/start', {
    connectionId: data.id,
  });
  expect([replaced.status, replaced.body.error.code]).toEqual([403, 'owner_required']);
});

test('the accounts of a member who is removed are revoked with the membership, or not at all', async () => {
  const { deps } = fixture.service;
  const colleague = await newColleague(fixture, ada.person);
  const theirs = await connectByDevice(fixture, colleague.session);
  const mine = await connectByDevice(fixture, ada.session);
  const routineId = await activeRoutineOn(ada, theirs.id, 'provider-a');
  const remove = (fails: boolean) =>
    transaction(deps.database, async (tx) => {
      const { organizationId } = ada.person;
      const { userId } = colleague.person;
      await removeMemberships(tx, { organizationId, userId });
      const ids = await revokeAccountsOfMember(deps, tx, {
        organizationId,
        userId,
        by: actorOf(ada),
      });
      if (fails) throw new Error('rolled back');
      return ids;
    });
  await expect(remove(true)).rejects.toThrow('rolled back');
  expect((await connectionOf(ada.session, theirs.id)).status).toBe('ready');
  expect(fixture.authorizationServer.control.revocationRequests).toEqual([]);

  expect(await remove(false)).toEqual([theirs.id]);
  expect(await connectionOf(ada.session, theirs.id)).toMatchObject({
    status: 'revoked',
    revocation: { reason: 'member_removed', revokedBy: ada.person.userId, pausedRoutineCount: 1 },
  });
  expect((await connectionOf(ada.session, mine.id)).status).toBe('ready');
  const routine = await (await ada.person.key()).get(`/v1/routines/${routineId}`);
  expect(routine.data).toMatchObject({
    state: 'paused',
    stateReason: 'the owner of its model account has left the organization',
  });
});

test('the accounts of a project that is deleted are revoked with it, and those of no other', async () => {
  const { deps } = fixture.service;
  const mine = await connectByDevice(fixture, ada.session);
  const bob = await newOwner(fixture);
  const bobs = await connectByDevice(fixture, bob.session);
  const { projectId } = ada.person;
  const by = actorOf(ada);
  const revoked = await transaction(deps.database, (tx) => revokeAccountsOfProject(deps, tx, { projectId, by }));
  expect(revoked).toEqual([mine.id]);
  expect(await connectionOf(ada.session, mine.id)).toMatchObject({
    status: 'revoked',
    revocation: { reason: 'project_deleted', revokedBy: ada.person.userId },
  });
  expect((await connectionOf(bob.session, bobs.id)).status).toBe('ready');
});

test('who removes a member is on the record of their accounts and in the audit log, and so is who connected them', async () => {
  const colleague = await newColleague(fixture, ada.person);
  const theirs = await connectByDevice(fixture, colleague.session);
  await connectByDevice(fixture, colleague.session, {
    account: 'someone-else',
    body: { connectionId: theirs.id },
  }).catch(() => undefined);
  const { organizationId, userId } = ada.person;
  const member = `/v1/organizations/${organizationId}/members/${colleague.person.userId}`;
  expect((await ada.session.delete(member)).status).toBe(200);
  expect(await connectionOf(ada.session, theirs.id)).toMatchObject({
    status: 'revoked',
    revocation: { reason: 'member_removed', revokedBy: userId },
  });
  const events = `/v1/audit-events?organizationId=${organizationId}&targetId=${theirs.id}`;
  expect((await ada.session.get(events)).data).toMatchObject([
    {
      action: 'model_connection.revoked',
      actor: { kind: 'person', id: userId },
      details: { provider: 'provider-a', reason: 'member_removed' },
    },
    {
      action: 'model_connection.created',
      actor: { kind: 'person', id: colleague.person.userId },
      details: { provider: 'provider-a', name: theirs.accountLabel },
    },
  ]);
});

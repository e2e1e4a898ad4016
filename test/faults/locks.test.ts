import { afterAll, beforeAll, expect, test } from 'vitest';
import { markOrganizationDeleted } from '#core/accounts/organizations/index.ts';
import { lockOrganization } from '#core/accounts/organizations/roles.ts';
import { lockRoutine } from '#core/authoring/routines/queries.ts';
import { lockDueRoutines } from '#core/scheduling/claim.ts';
import { AT_ONCE, transaction, type Db } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { activeRoutine } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { changeRoutines } from '#test/support/given.ts';

let service: Service;
let person: Person;
let key: ApiClient;
let routineId: string;

beforeAll(async () => {
  service = await startService({ worker: true });
  person = await signUp(service);
  key = await person.key();
  routineId = await activeRoutine(key, { schedule: '0 0 29 2 *' });
});
afterAll(() => service.close());

// The run and the claim both count against the month's allowance, so they could wait for each other.
test('a manual run is accepted while a tick is claiming its routine', async () => {
  await changeRoutines(service.deps.database, routineId, { nextRunAt: AT_ONCE });
  await acceptedWhile(async (tx) => {
    expect(await lockDueRoutines(tx, 10)).toHaveLength(1);
  });
});

test('a manual run is accepted while its routine is being changed', async () => {
  await acceptedWhile(async (tx) => {
    await lockRoutine(tx, person.projectId, routineId);
  });
});

test('a manual run is accepted while the members of its organization are being changed', async () => {
  await acceptedWhile(async (tx) => {
    await lockOrganization(tx, person.organizationId);
  });
});

test('a manual run is accepted while its organization is about to be deleted', async () => {
  const deletion = acceptedWhile(async (tx) => {
    const [organization] = (await person.session.get('/v1/organizations')).data;
    const by = { kind: 'person', id: person.userId, address: null } as const;
    await markOrganizationDeleted(tx, by, { id: organization.id, confirm: organization.name });
  }, new Error('taken back'));
  await expect(deletion).rejects.toThrow('taken back');
});

async function acceptedWhile(hold: (tx: Db) => Promise<void>, undo?: Error): Promise<void> {
  await transaction(service.deps.database, async (tx) => {
    await hold(tx);
    expect((await key.post(`/v1/routines/${routineId}/run`)).status).toBe(202);
    if (undo !== undefined) throw undo;
  });
}

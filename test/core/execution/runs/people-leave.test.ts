import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { giveRole } from '#test/support/given.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

test.for(['is removed', 'leaves as an owner'])(
  'a run goes on to its end when the person who started it %s, who can no longer read it',
  async (how, { service }) => {
    const [ada, grace] = [await signUp(service), await signUp(service)];
    const { organizationId, projectId } = ada;
    const invited = await ada.session.post(`/v1/organizations/${organizationId}/invitations`, { email: grace.email });
    await grace.session.post('/v1/invitations/accept', { token: invited.data.token });
    await giveRole(service.deps.database, organizationId, grace.userId, how === 'is removed' ? 'member' : 'owner');
    const inProject = grace.session.with({ 'X-Project-Id': projectId });
    service.gateway.control.reset();
    const release = service.gateway.control.hold();
    const started = await inProject.post(`/v1/routines/${await createRoutine(inProject)}/run`);
    expect(started.status).toBe(202);
    while (service.gateway.control.requests().every(({ path }) => !path.endsWith('/chat/completions'))) await sleep(25);
    const by = how === 'is removed' ? ada : grace;
    const left = await by.session.delete(`/v1/organizations/${organizationId}/members/${grace.userId}`);
    expect(left.status).toBe(200);
    release();
    expect((await inProject.get(`/v1/runs/${started.data.id}`)).status).toBe(404);
    const ofAda = ada.session.with({ 'X-Project-Id': projectId });
    expect(await runEnded(ofAda, started.data.id)).toMatchObject({ state: 'succeeded' });
  },
);

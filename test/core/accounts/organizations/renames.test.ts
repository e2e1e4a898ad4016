import { expect } from 'vitest';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { giveRole } from '#test/support/given.ts';

const test = serviceTest();

test.for([
  ['organization', 'organization.renamed', 'organization_not_found'],
  ['project', 'project.renamed', 'project_not_found'],
] as const)(
  'owners and admins rename an %s, members may not, and a foreign one does not exist',
  async ([kind, action, unknown], { service, bob }) => {
    const [owner, grace] = [await signUp(service), await signUp(service)];
    const id = kind === 'project' ? owner.projectId : owner.organizationId;
    const path = `/v1/${kind}s/${id}`;
    const { data } = await owner.session.patch(path, { name: '  Navy ' });
    expect(data).toMatchObject({ id, name: 'Navy' });
    expect((await owner.session.get(path)).data.name).toBe('Navy');
    // A request with the same name changes nothing.
    await owner.session.patch(path, { name: 'Navy' });

    const become = (role: string) => giveRole(service.deps.database, owner.organizationId, grace.userId, role);
    await become('member');
    const rename = { name: 'Army' };
    expect(codeOf(await grace.session.patch(path, rename))).toEqual([403, 'forbidden']);
    expect(codeOf(await bob.session.patch(path, rename))).toEqual([404, unknown]);
    for (const name of ['', '   ', 'x'.repeat(101), 'two\nlines', 'nul\u0000']) {
      expect(codeOf(await owner.session.patch(path, { name }))).toEqual([400, 'invalid_request']);
    }
    await become('admin');
    expect((await grace.session.patch(path, rename)).data.name).toBe('Army');

    const audit = `/v1/audit-events?organizationId=${owner.organizationId}&action=${action}`;
    const { data: events } = await owner.session.get(audit);
    expect(
      events.map(({ actor, targetId }: { actor: { id: string }; targetId: string }) => [actor.id, targetId]),
    ).toEqual([
      [grace.userId, id],
      [owner.userId, id],
    ]);
  },
);

function codeOf({ status, body }: Answer): unknown[] {
  return [status, body.error?.code];
}

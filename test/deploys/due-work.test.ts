import { expect, onTestFinished, test } from 'vitest';
import { createTickParts } from '#core/scheduling/index.ts';
import { AT_ONCE, sql, type Sql } from '#lib/database/index.ts';
import { schedulerWorkflowId, WORKFLOW } from '#lib/temporal/index.ts';
import { confirmedPerson, EVERYTHING, newsTo, REFUSED } from '#test/core/delivery/notifications/fixture.ts';
import { connectByDevice, revoke, startModelFixture } from '#test/core/models/connections/fixture.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import type { ApiClient } from '#test/support/client.ts';
import { ahead, changeMessages, changeRevocations, changeWork, ifAny } from '#test/support/given.ts';
import { checkOutCommit, lastRelease } from '#test/support/last-release.ts';
import { startMailbox } from '#test/support/mail.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { workerProcesses } from '#test/support/worker-process.ts';

const release = await lastRelease();

/** Number of runs per build with a mail, of runs with a ping to a monitor, and of revocations. */
const EACH = 3;
const SUCCEEDS = 'Answer with one line.';
const FAILS = 'Answer with what is refused.';

test.runIf(FULL_SIZE && release !== undefined)(
  'mails, pings and revocations that fall due beside the last release are each done once',
  async () => {
    const mailbox = await startMailbox();
    onTestFinished(() => mailbox.stop());
    const fixture = await startModelFixture({ env: mailbox.env });
    onTestFinished(() => fixture.close());
    const { service, authorizationServer } = fixture;
    const { database } = service.deps;
    const checkout = await checkOutCommit(release!);
    onTestFinished(() => checkout.remove());
    // Only the test starts ticks.
    const taskQueue = service.config.TEMPORAL_TASK_QUEUE;
    await service.temporal.workflow.start(WORKFLOW.scheduler, {
      taskQueue,
      workflowId: schedulerWorkflowId(taskQueue),
      args: [{ intervalMs: 86_400_000 }],
    });
    const workers = workerProcesses(service);
    onTestFinished(() => workers.close());
    const seen = new Set<string>();
    const monitor = await startReceiver(({ url = '' }, response) => {
      response.writeHead(seen.has(url) ? 200 : 503).end();
      seen.add(url);
    });
    const owner = await confirmedPerson(service, mailbox);
    const key = await owner.key();
    const session = owner.session.with({ 'X-Project-Id': owner.projectId });

    const { control } = service.gateway;
    const ends = [
      control.hold({ marker: SUCCEEDS, times: null }),
      control.hold({
        marker: FAILS,
        times: null,
        behaviour: { kind: 'text', text: REFUSED, finishReason: 'content_filter' },
      }),
    ];
    const asked = () => control.requests().filter(({ path }) => path.endsWith('/chat/completions')).length;
    const runs: { id: string; build: string }[] = [];
    for (const [build, cwd] of [
      ['earlier', checkout.folder],
      ['later', undefined],
    ] as const) {
      await workers.start(
        { ...mailbox.env, LOG_LEVEL: 'info', WORKER_BUILD_ID: build },
        cwd === undefined ? {} : { cwd },
      );
      const { code, output } = await workers.command('workers/deployment/make-current.ts', build);
      expect([code, output]).toEqual([0, expect.stringContaining('New runs start on')]);
      for (let nth = 0; nth < EACH; nth += 1) {
        const routines = [
          { instructions: FAILS, notifications: { mail: EVERYTHING } },
          { instructions: SUCCEEDS, notifications: { successPingUrl: `${monitor.origin}/${build}/${nth}` } },
        ];
        for (const fields of routines) {
          const { data } = await key.post(`/v1/routines/${await createRoutine(key, fields)}/run`);
          runs.push({ id: data.id, build });
        }
      }
      await expect.poll(asked).toBe(runs.length);
    }
    ends.forEach((end) => end());
    for (const { id, build } of runs) {
      const notified = async () => (await key.get(`/v1/runs/${id}`)).data.notifications;
      await runEnded(key, id);
      await expect.poll(notified).toMatchObject([{ state: 'pending', attempts: 0 }]);
      expect(await database.row`select build_id as build from runs where id = ${id}`).toEqual({ build });
    }

    // Each message is postponed once: mails by a greylist, pings and revocations by a 503.
    mailbox.faults.deferred = 2 * EACH;
    authorizationServer.control.revocationFaults.push(...Array.from({ length: 2 * EACH }, () => 503));
    const { url: before } = await workers.api(fixture.env(mailbox.env), { cwd: checkout.folder });
    const tickBefore = () => tickOverHttp(service.anonymous.at(before), service);
    const tickNow = async () => {
      const parts = createTickParts(service.deps);
      await parts.messages(new AbortController().signal);
      await parts.housekeeping(new AbortController().signal);
    };
    const paths = () => monitor.received.map(({ path }) => path).toSorted();
    const once = ['earlier', 'later'].flatMap((build) => Array.from({ length: EACH }, (_, nth) => `/${build}/${nth}`));

    const waits = (column: Sql) => sql`${column} < 'infinity'`;
    /** Sets the next attempts of mails, pings and revocations that wait for one. */
    const moveAttempts = async (to: Sql) => {
      await changeMessages(database, ifAny({ state: 'pending', nextAttemptAt: waits }), { nextAttemptAt: to });
      await changeRevocations(database, ifAny({ nextAttemptAt: waits }), { nextAttemptAt: to });
      await changeWork(database, ifAny({ attempts: 1 }), { dueAt: to });
    };
    // No wait ends by itself, however long the test takes.
    const later = ahead('1 hour');

    await tickBefore();
    expect(paths()).toEqual(once.slice(0, EACH));
    expect(mailbox.faults.deferred).toBe(EACH);
    await moveAttempts(later);
    await tickNow();
    for (let nth = 0; nth < EACH; nth += 1) {
      for (const client of [session.at(before), session]) {
        const { id } = await connectByDevice(fixture, session);
        expect((await revoke(client, id)).status).toBe(200);
      }
    }
    const { revocationRequests } = authorizationServer.control;
    await expect.poll(() => revocationRequests).toHaveLength(2 * EACH);
    await service.deps.work.idle();
    await moveAttempts(later);
    await Promise.all([tickBefore(), tickNow()]);
    // Neither build makes a second attempt at the other's waiting work.
    expect(paths()).toEqual(once);
    expect(mailbox.faults.deferred).toBe(0);
    expect(await newsTo(mailbox, owner)).toEqual([]);
    expect(revocationRequests).toEqual(Array.from({ length: 2 * EACH }, () => 'faulty'));

    await moveAttempts(AT_ONCE);
    await Promise.all([tickBefore(), tickNow()]);
    await Promise.all([tickBefore(), tickNow()]);

    expect(paths()).toEqual([...once, ...once].toSorted());
    const mails = await newsTo(mailbox, owner);
    expect(new Set(mails.map(({ headers }) => headers['message-id'])).size).toBe(2 * EACH);
    expect(mails).toHaveLength(2 * EACH);
    expect(revocationRequests.filter((hint) => hint !== 'faulty')).toHaveLength(2 * EACH);
    for (const { id } of runs) {
      expect((await key.get(`/v1/runs/${id}`)).data.notifications).toMatchObject([{ state: 'sent' }]);
    }
    const { data: accounts } = await session.get('/v1/model-connections');
    expect(accounts.map((each: Revoked) => each.revocation.providerRevocation)).toEqual(
      Array.from({ length: 2 * EACH }, () => 'revoked'),
    );
  },
  600_000,
);

interface Revoked {
  readonly revocation: { readonly providerRevocation: string };
}

/** Starts a tick and waits for its end, which is when the next tick begins. */
async function tickOverHttp(client: ApiClient, { config }: Service): Promise<void> {
  const ticking = client.with({ 'X-Scheduler-Secret': config.SCHEDULER_SECRET ?? '' });
  const isBegun = async () => !(await ticking.post('/internal/scheduler/tick')).data.alreadyRunning;
  await expect.poll(isBegun).toBe(true);
  await expect.poll(isBegun).toBe(true);
}

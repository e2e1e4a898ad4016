import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHostileTools, type HostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { schedulerWorkflowId, setCurrentBuild, WORKFLOW } from '#lib/temporal/index.ts';
import { checkOut, type Checkout } from '#test/support/checkout.ts';
import type { ApiClient } from '#test/support/client.ts';
import type { NodeProcess } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';
import { marker, routineWith, scriptCalls } from '#test/core/integrations/tools/support.ts';

let service: Service;
let workers: WorkerProcesses;
let key: ApiClient;
let later: Checkout;
let tools: HostileTools;

beforeAll(async () => {
  service = await startService();
  workers = workerProcesses(service);
  key = await (await signUp(service)).key();
  tools = await startHostileTools();
  later = await checkOut();
  // The scheduler that a worker starts would move to another build at the end of a minute.
  const taskQueue = service.config.TEMPORAL_TASK_QUEUE;
  await service.temporal.workflow.start(WORKFLOW.scheduler, {
    taskQueue,
    workflowId: schedulerWorkflowId(taskQueue),
    args: [{ intervalMs: 3_000 }],
  });
  // A run of the later release makes other commands in another order, so neither build can continue the other's run.
  await later.change(
    'workflows/run.ts',
    'for (let index = 0; ;) {',
    'for (let index = 0; ;) {\n      await sleep(20);',
  );
});
afterAll(async () => {
  await workers.close();
  await tools.stop();
  await service.close();
  await later.remove();
});

/** Environment of workers without a cache, so that any worker computes each step of a workflow from its history. */
const FORGETFUL = { WORKER_MAX_CACHED_WORKFLOWS: '0', LOG_LEVEL: 'info' };

function startEarlier(buildId = 'earlier'): Promise<NodeProcess> {
  return workers.start({ ...FORGETFUL, WORKER_BUILD_ID: buildId });
}
function startLater(buildId = 'later'): Promise<NodeProcess> {
  return workers.start({ ...FORGETFUL, WORKER_BUILD_ID: buildId }, { cwd: later.folder });
}

/** Has the effect of `deploy:current -- --unversioned`, whether or not its workers have started. */
async function makeUnversioned(): Promise<void> {
  const { client, name } = { client: service.temporal, name: service.config.TEMPORAL_TASK_QUEUE };
  await setCurrentBuild(client, name, undefined);
}

async function makeCurrent(build: string): Promise<string> {
  const { code, output } = await workers.command('workers/deployment/make-current.ts', build);
  expect([code, output]).toEqual([0, expect.stringContaining('New runs start on')]);
  return output;
}

/** Starts runs that call a tool between two model steps; resolves when all runs wait for the tool. */
async function startRuns(count: number): Promise<string[]> {
  const before = tools.control.calls.length;
  const mark = marker();
  const { routineId } = await routineWith(key, ['lookup'], {
    connection: { url: tools.url('honest') },
    routine: { instructions: mark, overlap: 'allow' },
  });
  for (let each = 0; each < count; each += 1) {
    scriptCalls(service, mark, { name: 'lookup', arguments: { query: 'x' } });
  }
  const started = await Promise.all(Array.from({ length: count }, () => key.post(`/v1/routines/${routineId}/run`)));
  await expect.poll(() => tools.control.calls.length).toBe(before + count);
  return started.map(({ data }) => data.id);
}

/** Holds the responses to tool calls until the returned function is called. */
function holdTools(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  tools.control.held = promise;
  return resolve;
}

/** Returns the builds that computed a run's steps, and how often a build failed to. */
async function historyOf(runId: string) {
  const { events = [] } = await service.temporal.workflow.getHandle(runId).fetchHistory();
  const builds = (events ?? []).flatMap(
    ({ workflowTaskCompletedEventAttributes: completed }) => completed?.deploymentVersion?.buildId ?? [],
  );
  const failed = (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes);
  return { builds: [...new Set(builds)], failed: failed.length };
}

async function schedulerBuild(): Promise<string | null | undefined> {
  const id = schedulerWorkflowId(service.config.TEMPORAL_TASK_QUEUE);
  const { raw, status } = await service.temporal.workflow.getHandle(id).describe();
  expect(status.name).toBe('RUNNING');
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

test('runs that are open on two builds, while the later one is made current and taken back, each end once on their own', async () => {
  const release = holdTools();
  await startEarlier();
  const waiting = await key.post(`/v1/routines/${await createRoutine(key)}/run`);
  expect((await key.get(`/v1/runs/${waiting.data.id}`)).data.waitingFor).toBe('worker');
  await makeCurrent('earlier');
  expect(await runEnded(key, waiting.data.id)).toMatchObject({ state: 'succeeded' });
  expect(await schedulerBuild()).toBe('earlier');

  const first = await startRuns(3);
  await startLater();
  const introduced = await workers.command('workers/deployment/status.ts');
  expect(introduced).toMatchObject({
    code: 0,
    output: expect.stringMatching(/later +new +1 +0 +0/),
  });
  expect(await makeCurrent('later')).toContain('Build earlier ends 3 open runs');
  const second = await startRuns(3);
  await expect.poll(schedulerBuild, { interval: 1_000 }).toBe('later');
  await makeCurrent('earlier');
  const third = await startRuns(3);
  const status = await workers.command('workers/deployment/status.ts', 'later');
  expect(status).toMatchObject({
    code: 1,
    output: expect.stringMatching(/later +draining +1 +3 /),
  });
  release();

  const expected = [
    ...first.map((id) => [id, 'earlier'] as const),
    ...second.map((id) => [id, 'later'] as const),
    ...third.map((id) => [id, 'earlier'] as const),
  ];
  for (const [id, build] of expected) {
    const run = await runEnded(key, id);
    expect(run.state).toBe('succeeded');
    expect(run.steps.map(stepInShort)).toEqual(['model succeeded 1', 'tool succeeded 1', 'model succeeded 1']);
    await expect.poll(() => statusOf(id)).toBe('COMPLETED');
    expect([id, await historyOf(id)]).toEqual([id, { builds: [build], failed: 0 }]);
  }
  expect(tools.control.calls).toHaveLength(9);
  const recorded = await service.deps.database.rows<{
    id: string;
    buildId: string;
  }>`select id, build_id as "buildId" from runs where id = any(${expected.map(([id]) => id)})`;
  expect(new Map(recorded.map(({ id, buildId }) => [id, buildId]))).toEqual(new Map(expected));
  // The scheduler has moved back, so the withdrawn release has no work left.
  await expect
    .poll(() => workers.command('workers/deployment/status.ts', 'later'), {
      interval: 1_000,
    })
    .toMatchObject({ code: 0, output: expect.stringContaining('Build later is drained') });
}, 300_000);

test.runIf(FULL_SIZE)(
  'without pinning neither build could carry on a run of the other',
  async () => {
    await workers.close();
    const release = holdTools();
    await makeUnversioned();
    const earlier = await workers.start({ ...FORGETFUL, WORKER_SHUTDOWN_GRACE_SECONDS: '1' });
    const [run = ''] = await startRuns(1);
    await earlier.end('SIGTERM');
    await workers.start(FORGETFUL, { cwd: later.folder });
    release();
    const failures = async () => (await historyOf(run)).failed;
    await expect.poll(failures).toBeGreaterThan(0);
    expect((await key.get(`/v1/runs/${run}`)).data.state).toBe('running');
  },
  120_000,
);

function stepInShort({ kind, state, attempt }: Record<string, string>): string {
  return `${kind} ${state} ${attempt}`;
}

async function statusOf(workflowId: string): Promise<string> {
  return (await service.temporal.workflow.getHandle(workflowId).describe()).status.name;
}

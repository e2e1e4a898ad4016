import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { expect } from 'vitest';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { WORKFLOW } from '#lib/temporal/index.ts';
import { actionEnded, actionsOf, approve, holdingRoutine, runAsking } from '#test/core/execution/actions/support.ts';
import { marker, routineWith, scriptCalls } from '#test/core/integrations/tools/support.ts';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { changeRoutines, changeVersions } from '#test/support/given.ts';

/** Each scenario makes a workflow take one of its paths on real parts, and returns the workflow's id. */
export const SCENARIOS: Record<string, (service: Service, key: ApiClient) => Promise<string>> = {
  async 'action-sent'(service) {
    const { session, projectId } = await signUp(service);
    const client = session.with({ 'X-Project-Id': projectId });
    const tools = await startHostileTools();
    try {
      const { routineId, mark } = await holdingRoutine(client, ['lookup'], { url: tools.url('honest') });
      await runAsking({ service, client }, { routineId, mark }, { name: 'lookup', arguments: { query: 'x' } });
      const [action] = await actionsOf(client, `routineId=${routineId}`);
      await approve(client, action);
      expect((await actionEnded(client, action.id)).state).toBe('done');
      return `${action.id}-1`;
    } finally {
      await tools.stop();
    }
  },

  async 'run-succeeded'(_service, key) {
    const run = await runOnce(key, await createRoutine(key));
    expect(run.state).toBe('succeeded');
    return run.id;
  },

  async 'run-with-tools'(service, key) {
    const tools = await startHostileTools();
    try {
      const mark = marker();
      const { routineId } = await routineWith(key, ['lookup'], {
        connection: { url: tools.url('honest') },
        routine: { instructions: mark },
      });
      const lookup = { name: 'lookup', arguments: { query: 'x' } };
      scriptCalls(service, mark, lookup, lookup);
      scriptCalls(service, mark, lookup);
      const run = await runOnce(key, routineId);
      expect(run.state).toBe('succeeded');
      expect(run.steps.filter(({ kind }: { kind: string }) => kind === 'tool')).toHaveLength(3);
      return run.id;
    } finally {
      await tools.stop();
    }
  },

  async 'run-failed'(service, key) {
    service.gateway.control.script({ behaviour: { kind: 'error', status: 400 } });
    const run = await runOnce(key, await createRoutine(key));
    expect(run).toMatchObject({ state: 'failed', reason: 'model_refused' });
    return run.id;
  },

  async 'run-blocked'(service, key) {
    const routineId = await createRoutine(key);
    await changeVersions(service.deps.database, { routineId }, { modelId: 'gone/model' });
    const run = await runOnce(key, routineId);
    expect(run).toMatchObject({ state: 'failed', reason: 'blocked_model' });
    return run.id;
  },

  async 'run-cancelled'(service, key) {
    service.gateway.control.script({ behaviour: { kind: 'hang' } });
    const routineId = await createRoutine(key);
    const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
    await expect.poll(async () => (await key.get(`/v1/runs/${run.id}`)).data.state).toBe('running');
    await key.post(`/v1/runs/${run.id}/cancel`);
    expect((await runEnded(key, run.id)).state).toBe('cancelled');
    return run.id;
  },

  async 'run-timed-out'(service, key) {
    service.gateway.control.script({ behaviour: { kind: 'hang' } });
    const routineId = await createRoutine(key);
    await changeRoutines(service.deps.database, routineId, { timeoutSeconds: 1 });
    const run = await runOnce(key, routineId);
    expect(run).toMatchObject({ state: 'failed', reason: 'timeout' });
    return run.id;
  },

  async 'run-cancelled-in-tool-call'(service, key) {
    const tools = await startHostileTools();
    try {
      tools.control.delayMs = 60_000;
      const mark = marker();
      const { routineId } = await routineWith(key, ['lookup'], {
        connection: { url: tools.url('honest') },
        routine: { instructions: mark },
      });
      scriptCalls(service, mark, { name: 'lookup', arguments: { query: 'x' } });
      const { data: run } = await key.post(`/v1/routines/${routineId}/run`);
      await expect.poll(() => tools.control.calls).toHaveLength(1);
      await key.post(`/v1/runs/${run.id}/cancel`);
      expect((await runEnded(key, run.id)).state).toBe('cancelled');
      return run.id;
    } finally {
      await tools.stop();
    }
  },

  async 'scheduler-continued'(service) {
    const workflowId = `scheduler-${randomBytes(6).toString('hex')}`;
    const { temporal, config } = service;
    const first = await temporal.workflow.start(WORKFLOW.scheduler, {
      taskQueue: config.TEMPORAL_TASK_QUEUE,
      workflowId,
      args: [{ intervalMs: 500, ticksPerRun: 2 }],
    });
    const latest = temporal.workflow.getHandle(workflowId);
    await expect.poll(async () => (await latest.describe()).runId).not.toBe(first.firstExecutionRunId);
    await latest.terminate('recorded');
    return `${workflowId}/${first.firstExecutionRunId}`;
  },

  async 'webhook-delivered'(service, key) {
    const receiver = createServer((_request, response) => response.end('thanks'));
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    try {
      const address = receiver.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      const webhookUrl = `http://127.0.0.1:${port}/hook`;
      const run = await runOnce(key, await createRoutine(key, { webhookUrl }));
      const delivered = async () =>
        service.deps.database.row<{
          id: string;
        }>`select id from webhook_deliveries where run_id = ${run.id} and state = 'delivered'`;
      await expect.poll(delivered).toBeDefined();
      return `${(await delivered())!.id}-1`;
    } finally {
      receiver.close();
    }
  },
};

/** Returns the history of a closed workflow, or of one of its executions if named `id/execution`. */
export async function closedHistory(service: Service, name: string): Promise<History> {
  const [workflowId = '', runId] = name.split('/');
  const handle = service.temporal.workflow.getHandle(workflowId, runId);
  await expect.poll(async () => (await handle.describe()).status.name).not.toBe('RUNNING');
  return handle.fetchHistory();
}

import { expect } from 'vitest';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true });

test('archiving a routine gives up what waits to be sent, and nothing of it is sent again', async ({ key }) => {
  const receiver = await startReceiver((_, response) => response.writeHead(503).end());
  const id = await createRoutine(key, { webhookUrl: receiver.origin });
  const run = await runOnce(key, id);
  const delivery = async () => (await key.get(`/v1/runs/${run.id}`)).data.webhookDeliveries[0];
  await expect.poll(delivery).toMatchObject({ state: 'pending', attempts: [{ status: 503 }] });
  expect((await key.delete(`/v1/routines/${id}`)).status).toBe(200);
  expect(await delivery()).toMatchObject({ state: 'failed', reason: 'routine_archived', nextAttemptAt: null });
  const again = await key.post(`/v1/runs/${run.id}/webhook-deliveries/${(await delivery()).id}/redeliver`);
  expect([again.status, again.body.error.code]).toEqual([409, 'routine_archived']);
  expect(receiver.received).toHaveLength(1);
});

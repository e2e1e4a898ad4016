import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { startDueDeliveries } from '#core/delivery/webhooks/index.ts';
import { startReceiver } from '#test/lib/outbound/receiver.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { ago, plantDeliveries } from '#test/support/given.ts';

// One receiver of an organization gets five of twenty slots. The file counts all attempts, so it has its own service.
const test = serviceTest({ worker: true, own: true });
const OF_ONE_HOST = 5;

test('ten thousand deliveries to a receiver that hangs delay no other receiver and no other tenant', async ({
  service,
  key,
  bobsKey,
}) => {
  const { database } = service.deps;
  const open = new Set<ServerResponse>();
  let mostOpen = 0;
  const hanging = await startReceiver((_, response) => {
    open.add(response);
    mostOpen = Math.max(mostOpen, open.size);
    response.once('close', () => open.delete(response));
  });
  const quick = await startReceiver((_, response) => response.end());
  const stuck = await createRoutine(key, { webhookUrl: hanging.origin });
  await plantDeliveries(database, stuck, {
    count: 10_000,
    host: new URL(hanging.origin).host,
    state: 'pending',
    nextAttemptAt: ago('1 hour'),
  });
  expect(await startDueDeliveries(service.deps)).toBe(OF_ONE_HOST);
  await expect.poll(() => open.size).toBe(OF_ONE_HOST);

  // Send a delivery of another tenant, and one of the same tenant to a working receiver.
  for (const client of [bobsKey, key]) {
    const before = quick.received.length;
    await runOnce(client, await createRoutine(client, { webhookUrl: quick.origin }));
    await expect.poll(() => quick.received.length).toBe(before + 1);
  }
  // No hanging attempt has ended so far.
  expect(hanging.received).toHaveLength(OF_ONE_HOST);
  expect(mostOpen).toBe(OF_ONE_HOST);

  // An attempt that ends frees its slot for the next one at once, without a tick.
  for (const response of open) response.destroy();
  await expect.poll(() => hanging.received.length).toBe(2 * OF_ONE_HOST);
  expect(mostOpen).toBe(OF_ONE_HOST);
  const waiting =
    await database.row`select count(*)::integer as deliveries from webhook_deliveries where attempt_count = 0 and state = 'pending'`;
  expect(waiting).toEqual({ deliveries: 10_000 - 2 * OF_ONE_HOST });
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#lib/database/index.ts';
import type { Cluster } from './cluster.ts';
import { anyRoutine, type Ledger } from './ledger.ts';
import { between } from './random.ts';

/** Makes each routine due again once its last occurrence was claimed, until `signal` aborts. */
export async function plantOccurrences(
  { database, ledger, random }: { database: Database; ledger: Ledger; random: () => number },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const routineId = anyRoutine(ledger, random);
    const at = new Date();
    const change = database.run`
      update routines set next_run_at = ${at}
      where id = ${routineId} and state = 'active' and next_run_at > now() + interval '1 hour'
    `;
    // Only a statement that was sent can take effect without a response.
    const changed = await change.catch((error: Error) => (error.message.includes('ECONNREFUSED') ? 0 : undefined));
    if (changed !== 0) ledger.planted.push({ routineId, at, certain: changed === 1 });
    await sleep(between(random, 200, 700));
  }
}

/** Starts ticks over HTTP beside the scheduler's own each minute, until `signal` aborts. */
export async function keepTicking(
  { apiUrls, schedulerSecret }: Pick<Cluster, 'apiUrls' | 'schedulerSecret'>,
  signal: AbortSignal,
): Promise<void> {
  for (let count = 0; !signal.aborted; count += 1) {
    await fetch(`${apiUrls[count % apiUrls.length]}/internal/scheduler/tick`, {
      method: 'POST',
      headers: { 'X-Scheduler-Secret': schedulerSecret },
      signal: AbortSignal.timeout(10_000),
    }).then(
      (response) => response.body?.cancel(),
      // This API may be down at the moment; the next tick goes to another.
      () => undefined,
    );
    await sleep(1_500);
  }
}

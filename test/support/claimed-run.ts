import type { ApiClient } from './client.ts';
import { plantRun } from './plant-run.ts';
import { createRoutine } from './routines.ts';
import type { Service } from './service.ts';
import { fallDue } from './fall-due.ts';

/** Makes a scheduled run that a tick has claimed; it waits while the service has no workers. */
export async function claimedRun(
  service: Service,
  key: ApiClient,
  fields: Record<string, unknown> = {},
): Promise<{ routineId: string; runId: string }> {
  const routineId = await createRoutine(key, { schedule: '@yearly', ...fields });
  return { routineId, runId: await claimRunOf(service, key, routineId) };
}

/** Activates a draft as if a manual run of it had succeeded, and has a tick claim an occurrence. */
export async function claimRunOf(
  service: Service,
  key: ApiClient,
  routineId: string,
): Promise<string> {
  await plantRun(service.deps.database, routineId, { state: 'succeeded' });
  const active = await key.post(`/v1/routines/${routineId}/activate`);
  if (active.status !== 200) throw new Error(JSON.stringify(active.body));
  await fallDue(service, routineId);
  // The claim lets runs in in the background, which must not meet the room that a test announces next.
  await service.deps.admission.settled();
  const [run] = (await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
  if (run?.state !== 'queued') throw new Error(`the claimed run is ${run?.state}`);
  return run.id;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from './client.ts';
import { PATIENCE_MS } from './properties.ts';

/** Makes a body that creates a routine, with the given fields over the defaults. */
export function routineBody(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'Test routine',
    instructions: 'Write one line.',
    schedule: '0 7 * * *',
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
    ...fields,
  };
}

export async function createRoutine(client: ApiClient, fields: Record<string, unknown> = {}): Promise<string> {
  const created = await client.post('/v1/routines', routineBody(fields));
  if (created.status !== 201) throw new Error(JSON.stringify(created.body));
  return created.data.id;
}

const END_STATES = new Set(['succeeded', 'failed', 'cancelled', 'skipped']);

/** Polls until the run has ended, and returns its details. */
export async function runEnded(client: ApiClient, runId: string) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const { data } = await client.get(`/v1/runs/${runId}`);
    if (END_STATES.has(data.state)) return data;
    if (Date.now() > end) throw new Error(`run ${runId} is still ${data.state}`);
    await sleep(50);
  }
}

/** Starts a manual run and waits for its end. */
export async function runOnce(client: ApiClient, routineId: string, body: unknown = {}) {
  const { status, data, body: envelope } = await client.post(`/v1/routines/${routineId}/run`, body);
  if (status !== 202) throw new Error(JSON.stringify(envelope));
  return runEnded(client, data.id);
}

/** Creates a routine with its proof run and activates it. */
export async function activeRoutine(client: ApiClient, fields: Record<string, unknown> = {}): Promise<string> {
  const id = await createRoutine(client, fields);
  const run = await runOnce(client, id);
  if (run.state !== 'succeeded') throw new Error(`the proof run ended ${run.state}`);
  const { status, body } = await client.post(`/v1/routines/${id}/activate`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return id;
}

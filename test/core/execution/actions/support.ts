import { expect } from 'vitest';
import { tickInProcess, tickSettled } from '#core/scheduling/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { discovered, marker, policyPath, scriptCalls, toolSteps, type Json } from '../../integrations/tools/support.ts';

/** Makes a routine with tools of these names, whose calls are held. */
export async function holdingRoutine(
  client: ApiClient,
  names: readonly string[],
  given: {
    readonly url: string;
    readonly routine?: Record<string, unknown>;
    readonly instructions?: string;
    readonly limits?: Record<string, unknown>;
  },
) {
  const mark = marker();
  const found = await discovered(
    client,
    { url: given.url },
    { ...given.routine, instructions: `${mark} ${given.instructions ?? ''}` },
  );
  for (const { id, name } of found.tools.filter((tool) => names.includes(tool.name))) {
    const { status, body } = await client.patch(policyPath(found.routineId, { id }), {
      state: 'hold',
      ...given.limits,
    });
    expect([status, body.error, name]).toEqual([200, undefined, name]);
  }
  const policyOf = (name: string) => found.tools.find((tool) => tool.name === name).id as string;
  return { ...found, mark, policyOf };
}

type Holding = Awaited<ReturnType<typeof holdingRoutine>>;

/** Runs the routine once, with model steps that make these calls one after the other. */
export async function runAsking(
  { service, client }: { readonly service: Service; readonly client: ApiClient },
  { routineId, mark }: Pick<Holding, 'routineId' | 'mark'>,
  ...calls: { readonly name: string; readonly arguments?: Json }[]
) {
  for (const call of calls) scriptCalls(service, mark, call);
  const run = await runOnce(client, routineId);
  return { run, steps: toolSteps(run) };
}

export async function actionsOf(client: ApiClient, filter: string): Promise<Json[]> {
  const { status, data, body } = await client.get(`/v1/actions?${filter}`);
  expect([status, body.error]).toEqual([200, undefined]);
  return data;
}

/** Approves an action with the digest that was seen. */
export function approve(client: ApiClient, { id, digest }: Json, body: unknown = {}) {
  return client.with({ 'If-Match': `"${digest}"` }).post(`/v1/actions/${id}/approve`, body);
}

/** Waits until an action has reached a final state. */
export async function actionEnded(client: ApiClient, id: string): Promise<Json> {
  const read = async () => (await client.get(`/v1/actions/${id}`)).data;
  await expect.poll(async () => (await read()).state).not.toMatch(/^(?:approved|sending)$/);
  return read();
}

/** Starts a tick and waits for its end. */
export async function ticked({ deps }: Pick<Service, 'deps'>): Promise<void> {
  await tickSettled(deps);
  tickInProcess(deps);
  await tickSettled(deps);
}

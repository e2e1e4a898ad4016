import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { createRoutine } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';

/** Data of a response, of any type. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
export type Json = any;

export async function connect(client: ApiClient, fields: Record<string, unknown> & { url: string }): Promise<string> {
  const { status, data, body } = await client.post('/v1/connections', { name: 'Tools', ...fields });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return data.id;
}

export interface Discovered {
  readonly routineId: string;
  readonly connectionId: string;
  readonly tools: Json[];
}

/** Makes a routine and discovers the tools of a connection for it, all disabled. */
export async function discovered(
  client: ApiClient,
  connection: Record<string, unknown> & { url: string },
  routine: Record<string, unknown> = {},
): Promise<Discovered> {
  const connectionId = await connect(client, connection);
  const routineId = await createRoutine(client, routine);
  const path = `/v1/routines/${routineId}/connections/${connectionId}/discover`;
  const { status, data, body } = await client.post(path);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { routineId, connectionId, tools: data.tools };
}

/** Makes a routine in which the tools of these names are confirmed with these limits. */
export async function routineWith(
  client: ApiClient,
  names: readonly string[],
  options: {
    connection: Record<string, unknown> & { url: string };
    routine?: Record<string, unknown>;
    limits?: Record<string, unknown>;
  },
): Promise<Discovered> {
  const found = await discovered(client, options.connection, options.routine);
  await confirm(client, found, names, options.limits);
  return found;
}

export async function confirm(
  client: ApiClient,
  { routineId, tools }: Discovered,
  names: readonly string[],
  limits: Record<string, unknown> = {},
): Promise<void> {
  for (const { id, name } of tools) {
    if (!names.includes(name)) continue;
    const { status, body } = await client.patch(policyPath(routineId, { id }), {
      confirmAutomaticExecution: true,
      ...limits,
    });
    expect([status, body.error]).toEqual([200, undefined]);
  }
}

export function policyPath(routineId: string, policy: { id: string }) {
  return `/v1/routines/${routineId}/tools/${policy.id}`;
}

/** Returns a new text that identifies a run's own model requests. */
export function marker() {
  return `marker-${Math.random().toString(36).slice(2)}`;
}

/** Returns the model requests that contain the mark. */
export function requestsWith(service: Service, mark: string): Json[] {
  return service.gateway.control.requests().filter(({ body }) => JSON.stringify(body ?? null).includes(mark));
}

/** Makes the next model step that contains the mark ask for these calls. */
export function scriptCalls(service: Service, mark: string, ...calls: { name: string; arguments?: Json }[]): void {
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'tool-calls', calls } });
}

/** Returns the tool steps of a run. */
export function toolSteps(run: Json): Json[] {
  return run.steps.filter(({ kind }: Json) => kind === 'tool');
}

/** Makes a small schema that would check the property 2^40 times: each definition checks it twice by the next. */
export function slowSchema(property: string): Json {
  const $defs: Record<string, object> = { d0: { type: 'string' } };
  for (let level = 1; level <= 40; level += 1) {
    const $ref = `#/$defs/d${level - 1}`;
    $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  // The process remembers a schema that takes too long, so each test needs another schema.
  const $comment = marker();
  return { type: 'object', $comment, properties: { [property]: { $ref: '#/$defs/d40' } }, $defs };
}

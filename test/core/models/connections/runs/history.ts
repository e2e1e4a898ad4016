import type { Service } from '#test/support/service.ts';

/** The history of a run in Temporal as text, its payloads readable. */
export async function historyOf({ temporal }: Service, runId: string): Promise<string> {
  const history = await temporal.workflow.getHandle(runId).fetchHistory();
  return JSON.stringify(history, (_key, value: unknown) => readable(value));
}

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  // The form that `toJSON` of a Buffer returns.
  if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer') {
    return Buffer.from((value as unknown as { data: number[] }).data).toString('utf8');
  }
  return value;
}

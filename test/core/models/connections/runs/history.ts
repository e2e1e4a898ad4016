import type { Service } from '#test/support/service.ts';

/** Returns the history of a run in Temporal as text, with readable payloads. */
export async function historyOf({ temporal }: Service, runId: string): Promise<string> {
  const history = await temporal.workflow.getHandle(runId).fetchHistory();
  return JSON.stringify(history, (_key, value: unknown) => readable(value));
}

function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  // `toJSON` of a Buffer returns this form.
  if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer') {
    return Buffer.from((value as unknown as { data: number[] }).data).toString('utf8');
  }
  return value;
}

import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });

/** Runs one activity, as the smallest workflow can: the baseline of runs. */
export async function oneActivity(): Promise<void> {
  await nothing();
}

const { ask, callTool } = proxyActivities<{
  ask(): Promise<void>;
  callTool(name: string): Promise<void>;
}>({ startToCloseTimeout: '30s', heartbeatTimeout: '10s' });

/** Makes a model call, then the tool calls one after the other, and a second model call. */
export async function toolCalls(names: readonly string[]): Promise<void> {
  await ask();
  for (const name of names) await callTool(name);
  await ask();
}

/** Does nothing. Some benchmarks start this workflow without a worker. */
export async function empty(): Promise<void> {}

import type { Gateway } from '#dev/fakes/gateway/server.ts';

export interface ModelCalls {
  /** Counts of the requests to the gateway, by run and by the number of its model step, from 0. */
  readonly byStep: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Counts the requests that have arrived so far. */
  read(): void;
  stop(): void;
}

/** The prompt of every routine under load names its run, so that each request can be assigned to a run. */
export const RUN_MARK = 'This is run {{run.id}}.';

/** Counts the model calls that the gateway received. The gateway keeps a limited number, so call `read` often. */
export function countModelCalls(gateway: Gateway): ModelCalls {
  const byStep = new Map<string, Map<number, number>>();
  let seen = 0;
  const read = () => {
    for (const { number, path, body } of gateway.control.requests()) {
      if (number <= seen) continue;
      seen = number;
      if (!path.endsWith('/chat/completions')) continue;
      const { messages } = body as { messages: readonly { role: string }[] };
      const runId = /This is run (run_\w+)\./.exec(JSON.stringify(messages))?.[1];
      if (runId === undefined) continue;
      const step = messages.filter(({ role }) => role === 'assistant').length;
      const steps = byStep.get(runId) ?? new Map<number, number>();
      steps.set(step, (steps.get(step) ?? 0) + 1);
      byStep.set(runId, steps);
    }
  };
  const timer = setInterval(read, 500);
  return { byStep, read, stop: () => clearInterval(timer) };
}

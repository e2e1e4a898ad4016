import type { ReceivedCall } from '#dev/fakes/hostile-tools/control.ts';
import { startHostileTools } from '#dev/fakes/hostile-tools/server.ts';
import { connect } from '#test/core/integrations/tools/support.ts';
import type { ApiClient } from '#test/support/client.ts';

/** A tool server that is never killed. The only argument of each call is the id of its run. */
export interface LoadTools {
  /** Every received call. */
  readonly calls: ReceivedCall[];
  /** Allows the routine to call this tool without asking a person. */
  confirm(routineId: string, tool: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server that responds after a short pause, so that some calls are open when their worker dies. */
export async function startTools(key: ApiClient): Promise<LoadTools> {
  const server = await startHostileTools();
  server.control.delayMs = 600;
  const connectionId = await connect(key, { url: server.url('honest') });
  return {
    calls: server.control.calls,
    async confirm(routineId, tool) {
      const routine = `/v1/routines/${routineId}`;
      const { data } = await key.post(`${routine}/connections/${connectionId}/discover`);
      const { id } = data.tools.find(({ name }: { name: string }) => name === tool);
      const confirmed = { confirmAutomaticExecution: true };
      const { status, body } = await key.patch(`${routine}/tools/${id}`, confirmed);
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    close: () => server.stop(),
  };
}

/** Counts the calls of each run. */
export function callsByRun({ calls }: LoadTools): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { arguments: args } of calls) {
    const runId = String(Object.values(args ?? {})[0]);
    counts.set(runId, (counts.get(runId) ?? 0) + 1);
  }
  return counts;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { schedulerWorkflowId } from '#lib/temporal/index.ts';

export interface NodeProcess {
  readonly pid: number;
  /** Everything written so far, both streams. */
  output(): string;
  /** Waits until that was written. */
  until(text: string, timeoutMs?: number): Promise<void>;
  /** Sends the signal and resolves with the exit code when the process has ended. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** One of the product's entries as its own process, with this environment and nothing of ours. */
export function startNode(entry: string, env: Record<string, string>): NodeProcess {
  const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'close');
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  return {
    pid: child.pid!,
    output: () => written,
    async until(text, timeoutMs = 40_000) {
      const end = Date.now() + timeoutMs;
      while (!written.includes(text)) {
        if (child.exitCode !== null || Date.now() > end) {
          throw new Error(`${entry} never wrote "${text}":\n${written.slice(-4_000)}`);
        }
        await sleep(25);
      }
    },
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

/** Ends the scheduler that a worker process of this test started, so that the next test's can start its own. */
export async function endScheduler(client: Client, taskQueue: string): Promise<void> {
  const scheduler = client.workflow.getHandle(schedulerWorkflowId(taskQueue));
  const found = await scheduler.describe().catch(() => undefined);
  if (found?.status.name === 'RUNNING') {
    await scheduler.terminate('the test is over');
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

import { Connection } from '@temporalio/client';

import type { Log } from '../child.ts';
import { isListening } from '../ports.ts';
import { ensureSearchAttributes } from './search-attributes.ts';

export interface HealthOptions {
  address: string;
  uiUrl: string | null;
  log: Log;
  signal: AbortSignal;
}

/** Resolves when the server's default namespace can be used and its UI, if any, responds. */
export async function whenHealthy({ address, uiUrl, log, signal }: HealthOptions): Promise<void> {
  // gRPC waits a second after a first refused connection, so it connects only once the server listens.
  await retried(signal, async () => {
    if (!(await isListening(Number(address.split(':')[1])))) throw new Error('it does not listen');
  });
  const connection = Connection.lazy({ address });
  try {
    await retried(signal, async () => {
      await connection.withDeadline(Date.now() + 2_000, () =>
        connection.workflowService.describeNamespace({ namespace: 'default' }),
      );
    });
    await ensureSearchAttributes(connection, log);
    if (uiUrl !== null) {
      await retried(signal, async () => {
        const response = await fetch(uiUrl, { signal: AbortSignal.timeout(2_000) });
        await response.body?.cancel();
        if (!response.ok) throw new Error(`its UI answered ${response.status}`);
      });
    }
  } finally {
    await connection.close();
  }
}

async function retried(signal: AbortSignal, check: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(25);
    }
  }
}

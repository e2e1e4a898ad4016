import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startBroker } from '#runtime/sandbox/broker.ts';
import { createSandbox } from '#runtime/sandbox/sandbox.ts';
import { HAS_BUBBLEWRAP, WHY_SKIPPED } from './bubblewrap.ts';

test.skipIf(!HAS_BUBBLEWRAP)(
  `a session that is killed at any moment of its start is gone, with all that it has started${WHY_SKIPPED}`,
  async () => {
    const sandbox = createSandbox('bubblewrap');
    try {
      const socketPath = sandbox.socketPath();
      const broker = await startBroker(socketPath);
      // At most a millisecond passes from the start of bubblewrap to its setup of the child, so try many moments.
      for (let step = 0; step < 60; step += 1) {
        const session = sandbox.launch('runtime/session/session.ts', socketPath);
        await sleep(step / 4);
        session.kill();
        await expect(session.exited).resolves.toBeNull();
      }
      await broker.close();
    } finally {
      sandbox.close();
    }
  },
);

/**
 * Loaded into a process before its own code (`--import`): SIGUSR2 collects all garbage, in its threads too, and returns
 * the memory to the system. Otherwise the memory in use would depend on V8's last collection, which hides leaks.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

setFlagsFromString('--expose-gc');
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the flag has just put it there
const gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;

function collect(): void {
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

const threads = new BroadcastChannel('collect');
if (isMainThread) {
  process.on('SIGUSR2', () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only a window's takes an origin
    threads.postMessage('now');
    collect();
  });
} else {
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a listener alone is not called in Node 24
  threads.onmessage = collect;
}
threads.unref();

/**
 * Outlives the process that started it, only to stop that process's children. It reads the whole list of children from
 * its standard input, a JSON line for each change. The end of the input means that the parent has ended. `pids.json`
 * stays, because it may belong to the next start by now.
 */
import { createInterface } from 'node:readline';

import { parseGuarded, stopGuarded } from './guarded.ts';
import type { Guarded } from './guarded.ts';

let children: Guarded[] = [];

// Ignore signals, which are for the parent: this process waits for the end of the parent.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

for await (const line of createInterface({ input: process.stdin })) {
  children = parseGuarded(line) ?? children;
}

await stopGuarded(children);

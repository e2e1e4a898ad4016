/**
 * Outlives the process that started it just long enough to stop that process's children. It reads the whole list of
 * children from its standard input, a JSON line for each change; the end of the input means that the parent is gone.
 * `pids.json` is left alone, as it may belong to the next start by now.
 */
import { createInterface } from 'node:readline';

import { parseGuarded, stopGuarded } from './guarded.ts';
import type { Guarded } from './guarded.ts';

let children: Guarded[] = [];

// Signals to end are for the parent; its end is what this process waits for.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

for await (const line of createInterface({ input: process.stdin })) {
  children = parseGuarded(line) ?? children;
}

await stopGuarded(children);

/**
 * Loaded first into a process that Node watches. Threads report their loaded modules to Node in messages, which Node
 * also passes to the thread's listeners. Temporal's SDK would take them for its own and end the process.
 */
import { Worker } from 'node:worker_threads';

// oxlint-disable-next-line typescript/unbound-method -- called with its thread below
Worker.prototype.emit = new Proxy(Worker.prototype.emit, {
  apply: (emit, thread: Worker, args: [event: string, message: unknown]) =>
    isReport(args) || Reflect.apply(emit, thread, args),
});

/** Returns true for a message of Node's own loader. */
function isReport([event, message]: readonly [string, unknown]): boolean {
  return (
    event === 'message' &&
    typeof message === 'object' &&
    message !== null &&
    ('watch:import' in message || 'watch:require' in message)
  );
}

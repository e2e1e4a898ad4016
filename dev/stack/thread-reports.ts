/**
 * Loaded first into a process that Node watches. Node learns which modules a thread loads from messages of that thread,
 * and then hands these on to every listener of the thread: Temporal's SDK takes them for its own and ends the process.
 */
import { Worker } from 'node:worker_threads';

// oxlint-disable-next-line typescript/unbound-method -- called with its thread below
Worker.prototype.emit = new Proxy(Worker.prototype.emit, {
  apply: (emit, thread: Worker, args: [event: string, message: unknown]) =>
    isReport(args) || Reflect.apply(emit, thread, args),
});

/** Returns true for a message of Node's own loader, which Node has read by now. */
function isReport([event, message]: readonly [string, unknown]): boolean {
  return (
    event === 'message' &&
    typeof message === 'object' &&
    message !== null &&
    ('watch:import' in message || 'watch:require' in message)
  );
}

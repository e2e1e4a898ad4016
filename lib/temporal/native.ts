/**
 * The native half of Temporal's SDK, without the rest of its worker package: the package's entry loads the bundler of
 * workflows, a compiler and a packer that an API has no use for.
 */
export { NativeConnection } from '@temporalio/worker/lib/connection.js';
export type { Logger } from '@temporalio/worker/lib/logger.js';
export { Runtime } from '@temporalio/worker/lib/runtime.js';

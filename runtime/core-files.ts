import { spawnSync } from 'node:child_process';
import type { Log } from '#lib/log.ts';

/**
 * Sets the limit of this process for core files to zero: one could hold the token of a call under way. Node has no call
 * for it, but the program that limits sessions sets the limits of others too.
 */
export function forbidCoreFiles(log: Log): void {
  const { status } = spawnSync('/usr/bin/prlimit', ['--pid', String(process.pid), '--core=0:0']);
  if (status !== 0) log.warn('core files are not forbidden; do it where the runtime is started');
}

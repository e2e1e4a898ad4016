/** Entry: `node runtime/server.ts` serves the provider runtime until SIGTERM or SIGINT. */
import { spawnSync } from 'node:child_process';
import { startingConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { onStopSignal } from '#lib/listen.ts';
import { startRuntime } from './start.ts';

const config = startingConfig('runtime');
const log = createLog({ level: config.LOG_LEVEL, name: 'runtime' });
forbidCoreFiles();
if (process.getuid?.() === 0) log.warn('the runtime runs as root; give it a user of its own');
const runtime = await startRuntime(config, log);
log.info({ host: config.MODEL_RUNTIME_HOST, port: runtime.port, instanceId: runtime.instanceId }, 'listening');
onStopSignal(log, async () => {
  await runtime.stop();
  log.info('stopped');
  process.exit();
});

/**
 * Sets this process's limit for core files to zero: a core file could contain the token of an open call. Node cannot
 * set this limit, so `prlimit`, which also limits sessions, sets it.
 */
function forbidCoreFiles(): void {
  const { status } = spawnSync('/usr/bin/prlimit', ['--pid', String(process.pid), '--core=0:0']);
  if (status !== 0) log.warn('core files are not forbidden; forbid them where the runtime is started');
}

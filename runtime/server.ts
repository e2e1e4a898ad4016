/** Entry: `node runtime/server.ts` serves the provider runtime until SIGTERM or SIGINT. */
import { startingConfig } from '#lib/config/index.ts';
import { createLog } from '#lib/log.ts';
import { onStopSignal } from '#lib/listen.ts';
import { forbidCoreFiles } from './core-files.ts';
import { startRuntime } from './start.ts';

const config = startingConfig('runtime');
const log = createLog({ level: config.LOG_LEVEL, name: 'runtime' });
forbidCoreFiles(log);
if (process.getuid?.() === 0) log.warn('the runtime runs as root; give it a user of its own');
const runtime = await startRuntime(config, log);
log.info(
  { host: config.MODEL_RUNTIME_HOST, port: runtime.port, instanceId: runtime.instanceId },
  'listening',
);
onStopSignal(log, async () => {
  await runtime.stop();
  log.info('stopped');
  process.exit();
});

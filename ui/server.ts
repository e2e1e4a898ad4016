/** Entry: `node ui/server.ts` serves the built dashboard until SIGTERM or SIGINT. */
import path from 'node:path';
import { startingConfig } from '../lib/config/index.ts';
import { createLog } from '../lib/log.ts';
import { onStopSignal } from '../lib/listen.ts';
import { createDashboard } from './server/app.ts';
import { readFiles, serveFiles } from './server/files.ts';
import { listen } from './server/listen.ts';

const config = startingConfig('ui');
const log = createLog({ level: config.LOG_LEVEL, name: 'ui' });
const files = await readFiles(path.join(import.meta.dirname, 'dist'));
const app = createDashboard({ config, log, pages: serveFiles(files) });
const server = await listen(app.callback(), { host: config.UI_HOST, port: config.UI_PORT });
log.info({ host: config.UI_HOST, port: server.port }, 'listening');
onStopSignal(log, async () => {
  await server.close();
  log.info('stopped');
});

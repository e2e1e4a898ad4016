/** Entry: `node ui/dev.ts` serves the sources with hot reload, behind the same proxy as the built pages. */
import type { Middleware } from 'koa';
import { createServer, type ViteDevServer } from 'vite';
import { loadConfig } from '../lib/config/index.ts';
import { createLog } from '../lib/log.ts';
import { createDashboard } from './server/app.ts';
import { listen } from './server/listen.ts';
import viteConfig from './vite.config.ts';

const config = loadConfig('ui');
const log = createLog({ level: config.LOG_LEVEL, name: 'ui' });
let vite: ViteDevServer | undefined;
const app = createDashboard({
  config,
  log,
  pages: (ctx, next) => (vite === undefined ? next() : serveSources(vite)(ctx, next)),
  // Hot reload inlines a script and styles, and announces changes over a web socket.
  policy: "default-src 'self' 'unsafe-inline' data: ws:; frame-ancestors 'none'",
});
const { server, port } = await listen(app.callback(), {
  host: config.UI_HOST,
  port: config.UI_PORT,
});
vite = await createServer({
  ...viteConfig,
  // Vite would bundle the configuration into a temporary file, and `node --watch` would restart this process each time.
  configFile: false,
  server: { middlewareMode: true, hmr: { server } },
  appType: 'spa',
});
log.info({ host: config.UI_HOST, port }, 'listening');

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit());

function serveSources({ middlewares }: ViteDevServer): Middleware {
  return (ctx, next) =>
    new Promise((resolve, reject) => {
      ctx.respond = false;
      ctx.res.statusCode = 200;
      ctx.res.once('close', resolve);
      middlewares(ctx.req, ctx.res, (error?: unknown) => (error === undefined ? resolve(next()) : reject(error)));
    });
}

import Koa, { type Middleware } from 'koa';
import type { ConfigOf } from '../../lib/config/index.ts';
import type { Log } from '../../lib/log.ts';
import { refusePrefetch } from '../../lib/listen.ts';
import { accessLog } from './access-log.ts';
import { connectApi } from './api.ts';
import { returns } from './returns.ts';
import { securityHeaders } from './headers.ts';
import { health } from './health.ts';
import { pathsOnly } from './paths-only.ts';
import { proxy } from './proxy.ts';
import { requestId } from './request-id.ts';

export interface Dashboard {
  readonly config: Pick<ConfigOf<'ui'>, 'API_URL' | 'UI_ORIGIN' | 'COMMERCIAL_ACQUISITION_ENABLED'>;
  readonly log: Log;
  /** Serves the pages: the built files, or the sources during development. */
  readonly pages: Middleware;
  /** Content security policy of all responses; set only where sources are served. */
  readonly policy?: string;
}

/** Creates the server of the dashboard: every request passes these middlewares, in this order. */
export function createDashboard({ config, log, pages, policy }: Dashboard): Koa {
  const app = new Koa();
  const api = connectApi(config.API_URL);
  app.use(requestId);
  app.use(accessLog(log));
  app.use(securityHeaders(policy));
  app.use(pathsOnly);
  app.use(refusePrefetch);
  app.use(health(api, config));
  app.use(returns(api));
  app.use(proxy(api, log));
  app.use(pages);
  app.on('error', (err: Error) => {
    // A browser that leaves in the middle of a response is no fault.
    if ('code' in err && err.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    log.warn({ err }, 'a response broke off');
  });
  return app;
}

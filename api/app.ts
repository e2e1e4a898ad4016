import cors from '@koa/cors';
import Koa from 'koa';
import { refusePrefetch } from '#lib/listen.ts';
import { authMount } from './auth/mount.ts';
import type { Deps } from './deps.ts';
import { docs } from './docs/page.ts';
import { strictHttp } from './http/listen.ts';
import { mcp } from './mcp/serve.ts';
import { errors } from './middleware/errors.ts';
import { requestId, securityHeaders } from './middleware/headers.ts';
import { accessLog, logContext, requestMetrics, requestTracing } from './middleware/observe.ts';
import { assistantSignIn } from './outside/assistants.ts';
import { clientMetadata } from './outside/oauth.ts';
import { terminalSignIn } from './outside/terminals.ts';
import { unsubscribe } from './outside/unsubscribe.ts';
import { createRouter, unmatched } from './router.ts';
import { routes } from './routes.ts';

/** Creates the HTTP server. A request passes these middlewares in order. */
export function createApp(deps: Deps): Koa {
  const app = new Koa({ env: deps.config.NODE_ENV });
  const router = createRouter(routes, deps);

  app.use(requestId);
  app.use(logContext(deps.clientAddress));
  app.use(requestMetrics(deps.metrics));
  if (deps.tracing.enabled) app.use(requestTracing(deps.tracing));
  app.use(accessLog(deps.log));
  app.use(errors(deps.log));
  app.use(strictHttp);
  app.use(securityHeaders);
  app.use(refusePrefetch);
  app.use(cors({ origin: deps.config.UI_ORIGIN, credentials: true, exposeHeaders: EXPOSED_HEADERS }));
  app.use(router.routes());
  app.use(assistantSignIn(deps));
  app.use(authMount(deps));
  app.use(mcp(deps));
  app.use(docs(deps.config));
  app.use(clientMetadata(deps));
  app.use(terminalSignIn(deps));
  app.use(unsubscribe(deps));
  app.use(unmatched(router, deps));
  app.on('error', (err: Error) => {
    // Report no error of a client that leaves in the middle of a stream.
    if ('code' in err && err.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    deps.log.warn({ err }, 'a response broke off');
  });
  return app;
}

const EXPOSED_HEADERS = [
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

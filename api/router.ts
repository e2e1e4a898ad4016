import Router from '@koa/router';
import type { Middleware } from 'koa';
import { AppError } from '#lib/errors.ts';
import type { Deps } from './deps.ts';
import { serve } from './http/serve.ts';
import type { Route } from './route.ts';

/** Puts the declared routes, in their order, on a router. A path has one spelling: idempotency is scoped by it. */
export function createRouter(routes: readonly Route[], deps: Deps): Router {
  const router = new Router({ strict: true, sensitive: true });
  for (const route of routes) {
    const handler = serve(route, deps);
    router.register(
      route.spec.path,
      [route.spec.method],
      [
        (ctx, next) => {
          ctx.state.route = route.spec.path;
          return handler(ctx, next);
        },
      ],
    );
  }
  return router;
}

/** What no route took: 405 with `Allow` where another method would do, else 404. */
export function unmatched(router: Router): Middleware {
  return async (ctx) => {
    const methods = new Set(
      router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods),
    );
    if (methods.size === 0) throw new AppError('route_not_found');
    throw new AppError('method_not_allowed', undefined, { Allow: [...methods].join(', ') });
  };
}

import Router from '@koa/router';
import type { Middleware } from 'koa';
import { AppError } from '#lib/errors.ts';
import type { Deps } from './deps.ts';
import { countedKey } from './http/authenticate.ts';
import { serve } from './http/serve.ts';
import type { Route } from './route.ts';

/**
 * Puts the declared routes on a router. A path has one spelling, because idempotency keys count by path. A path has one
 * meaning: a word is preferred to a parameter, so `providers` in `/v1/connections/providers` is never an id.
 */
export function createRouter(routes: readonly Route[], deps: Deps): Router {
  const router = new Router({ strict: true, sensitive: true });
  for (const route of routes.toSorted((a, b) => bySpecificity(a.spec.path, b.spec.path))) {
    const { method, path } = route.spec;
    const handler = serve(route, deps);
    const isOverridden = routes.some(({ spec }) => overrides(spec.path, path));
    router.register(
      path,
      [method],
      [
        (ctx, next) => {
          const meant = isOverridden ? meantBy(router, ctx.path) : undefined;
          if (meant !== undefined && meant.path !== path) throw methodNotAllowed(meant.methods);
          ctx.state.route = path;
          return handler(ctx, next);
        },
      ],
    );
  }
  return router;
}

/**
 * Refuses a request without a route: 405 with `Allow` if another method exists, else 404. The key of such a request is
 * counted and checked too.
 */
export function unmatched(router: Router, deps: Deps): Middleware {
  return async (ctx) => {
    const hasKey = ctx.path.startsWith('/v1/') && ctx.get('authorization') !== '';
    if (hasKey) await countedKey(ctx, deps);
    const { methods } = meantBy(router, ctx.path);
    if (methods.length === 0) throw new AppError('route_not_found');
    throw methodNotAllowed(methods);
  };
}

function meantBy(router: Router, requested: string) {
  const layers = router.match(requested, 'GET').path;
  const [path] = layers.map((layer) => String(layer.path)).toSorted(bySpecificity);
  const methods = layers.flatMap((layer) => (layer.path === path ? layer.methods : []));
  return { path, methods };
}

function methodNotAllowed(methods: readonly string[]): AppError {
  return new AppError('method_not_allowed', undefined, { Allow: [...new Set(methods)].join(', ') });
}

function bySpecificity(a: string, b: string): number {
  return kindsOf(a).localeCompare(kindsOf(b));
}

function kindsOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '1' : '0'))
    .join('');
}

function overrides(specific: string, path: string): boolean {
  const [words, segments] = [specific.split('/'), path.split('/')];
  const isBoth = (at: number) =>
    words[at] === segments[at] || words[at]?.startsWith(':') || segments[at]?.startsWith(':');
  return words.length === segments.length && words.every((_, at) => isBoth(at)) && bySpecificity(specific, path) < 0;
}

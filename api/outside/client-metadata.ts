import type { Middleware } from 'koa';
import { clientMetadataDocument } from '#core/connections/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Deps } from '../deps.ts';

/**
 * Serves the documents behind our client ids, for authorization servers. They are no operations of the API: a standard
 * lays down its form, which has no envelope.
 */
export function clientMetadata({
  config,
  providers,
}: Pick<Deps, 'config' | 'providers'>): Middleware {
  const { PUBLIC_URL: publicUrl, UI_ORIGIN: uiOrigin } = config;
  return async (ctx, next) => {
    const document = clientMetadataDocument(ctx.path, { publicUrl, uiOrigin, providers });
    if (document === undefined) return next();
    ctx.state.route = '/oauth/client-metadata.json';
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw new AppError('method_not_allowed', undefined, { Allow: 'GET, HEAD' });
    }
    // An hour: as long as a new provider or return address takes to be known everywhere.
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(document);
    return undefined;
  };
}

import type { Middleware } from 'koa';
import { CLIENT_METADATA_PATH, clientMetadataDocument } from '#core/connections/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Deps } from '../deps.ts';

/**
 * Serves the document behind our client id, for authorization servers. It is not an operation of the API: a standard
 * lays down its form, which has no envelope.
 */
export function clientMetadata({
  config,
  providers,
}: Pick<Deps, 'config' | 'providers'>): Middleware {
  const { PUBLIC_URL: publicUrl, UI_ORIGIN: uiOrigin } = config;
  const document = JSON.stringify(clientMetadataDocument({ publicUrl, uiOrigin, providers }));
  return async (ctx, next) => {
    if (ctx.path !== CLIENT_METADATA_PATH) return next();
    ctx.state.route = CLIENT_METADATA_PATH;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw new AppError('method_not_allowed', undefined, { Allow: 'GET, HEAD' });
    }
    // An hour: as long as a new provider or return address takes to be known everywhere.
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.type = 'application/json';
    ctx.body = document;
    return undefined;
  };
}

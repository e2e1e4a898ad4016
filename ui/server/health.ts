import type { Middleware } from 'koa';
import { z } from 'zod';
import type { ConfigOf } from '../../lib/config/index.ts';
import type { Api } from './api.ts';
import { failure } from './failure.ts';
import { readApi } from './read-api.ts';

const publicConfig = z.object({ uiOrigin: z.string(), commercialAcquisition: z.boolean() });

/**
 * Serves `GET /health`, and `GET /ready`, which compares this configuration with the API's: a switch that is on here
 * and off there would offer plans that cannot be bought, and with another origin the API refuses every change.
 */
export function health(
  api: Api,
  config: Pick<ConfigOf<'ui'>, 'UI_ORIGIN' | 'COMMERCIAL_ACQUISITION_ENABLED'>,
): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/health' && ctx.path !== '/ready') return next();
    ctx.state.served = ctx.path;
    ctx.set('Cache-Control', 'no-store');
    const found = ctx.path === '/ready' ? await obstacle(api, config) : undefined;
    if (found === undefined) {
      ctx.body = { data: { status: 'ok' }, requestId: ctx.state.requestId };
    } else {
      ctx.set('Retry-After', '5');
      failure(ctx, 503, 'service_unavailable', found);
    }
    return undefined;
  };
}

async function obstacle(api: Api, config: Parameters<typeof health>[1]): Promise<string | undefined> {
  const response = await readApi(api, '/public/config').catch(() => undefined);
  const told = publicConfig.safeParse(response?.body?.data);
  if (!told.success) return 'The API cannot be reached.';
  if (told.data.commercialAcquisition !== config.COMMERCIAL_ACQUISITION_ENABLED) {
    return 'COMMERCIAL_ACQUISITION_ENABLED differs from that of the API.';
  }
  if (told.data.uiOrigin !== config.UI_ORIGIN) return 'UI_ORIGIN differs from that of the API.';
  return undefined;
}

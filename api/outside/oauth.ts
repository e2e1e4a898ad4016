import type { Middleware } from 'koa';
import { z } from 'zod';
import { clientMetadataDocument, completeSignIn } from '#core/integrations/connections/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Deps } from '../deps.ts';
import { returnedFields } from '../http/schemas.ts';
import { routesOf } from '../route.ts';
import { signInDepsOf } from '../v1/connections/providers.ts';
import { connection, presentConnection } from '../v1/connections/schemas.ts';

export const completeConnectionSignIn = routesOf('Connections')('GET /oauth/callback/:provider', {
  id: 'completeConnectionSignIn',
  summary: 'Complete a sign-in to a provider or tool server',
  description:
    'The user interface forwards the return from the provider to this operation, with its query and the session cookie of the sign-in. A state is redeemed once, within ten minutes, for that session and provider; a repeated return leads to the same connection. Each authorization server of tool servers counts as a provider of its own. A response that names another issuer (RFC 9207) is refused. The provider’s error texts are not repeated.',
  auth: 'session',
  params: z.strictObject({
    provider: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,60}$/)
      .meta({
        description:
          'The provider of the sign-in, or for a tool server its authorization server, as in the `redirectUri` of the start.',
        example: 'github',
      }),
  }),
  query: z.object(returnedFields),
  success: { data: connection, description: 'The connection, ready.' },
  errors: ['attempt_expired', 'forbidden', 'connection_not_found', 'project_not_found', 'provider_error'],
}).to(async ({ access, by, params, query, deps }) => {
  const completed = await completeSignIn(signInDepsOf(deps), {
    callback: params.provider,
    userId: access.userId,
    sessionId: access.sessionId,
    state: query.state,
    code: query.code,
    error: query.error,
    iss: query.iss,
    by,
  });
  return { data: presentConnection(completed) };
});

/**
 * Serves the documents behind this service's client ids to authorization servers. The documents are not operations of
 * the API: a standard defines their form, which has no envelope.
 */
export function clientMetadata({ config, providers }: Pick<Deps, 'config' | 'providers'>): Middleware {
  const { PUBLIC_URL: publicUrl, UI_ORIGIN: uiOrigin } = config;
  return async (ctx, next) => {
    const document = clientMetadataDocument(ctx.path, { publicUrl, uiOrigin, providers });
    if (document === undefined) return next();
    ctx.state.route = '/oauth/client-metadata.json';
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw new AppError('method_not_allowed', undefined, { Allow: 'GET, HEAD' });
    }
    // Servers may cache the document for an hour, so a new provider or return address is known after an hour at most.
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(document);
    return undefined;
  };
}

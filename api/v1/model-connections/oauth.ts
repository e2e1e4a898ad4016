import { z } from 'zod';
import {
  completeOAuthSignIn,
  readReturnedAddress,
  startOAuthSignIn as start,
  type ReturnedParameters,
} from '#core/models/connections/index.ts';
import { AppError } from '#lib/errors.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, iso, returnedFields } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { ownerOf } from './device.ts';
import { modelConnection, modelConnectionId, presentModelConnection, SIGN_IN_ERRORS } from './schemas.ts';

const route = routesOf('Model accounts');
const CALLBACK_PATH = '/v1/model-connections/provider-b/oauth/callback';

const startModelSignIn = route('POST /v1/model-connections/provider-b/oauth/start', {
  id: 'startModelSignIn',
  summary: 'Begin to connect an account by signing in',
  description:
    'Returns the address for the browser of this person, and replaces their open sign-in. The provider sends the browser back to `redirectUri` within ten minutes. If `redirect` is `paste`, nothing listens there: the person copies the final address of the browser, for the callback. With `connectionId` the same account is signed in to again, and the connection keeps its id. Only the session that begins a sign-in can end it.',
  auth: 'owner-session',
  scope: 'connections:write',
  bodyOptional: true,
  body: z.strictObject({ connectionId: modelConnectionId.optional() }),
  success: {
    data: component('StartedModelSignIn', {
      authorizationUrl: z.string(),
      host: z.string().describe('Host of the sign-in address, to be shown before the browser leaves.'),
      redirectUri: z.string(),
      redirect: z.enum(['callback', 'paste']),
      expiresAt: timestamp,
    }),
    description: 'Where to send the browser.',
  },
  errors: SIGN_IN_ERRORS,
}).to(async ({ access, body, deps }) => {
  const started = await start(deps, ownerOf(access), {
    connectionId: body.connectionId ?? null,
    callbackUri: `${deps.config.UI_ORIGIN}${CALLBACK_PATH}`,
  });
  return {
    data: {
      authorizationUrl: started.authorizationUrl,
      host: started.host,
      redirectUri: started.redirectUri,
      redirect: started.redirect,
      expiresAt: iso(started.expiresAt),
    },
  };
});

const returnedQuery = z.object({
  ...returnedFields,
  // A query with `address` has no separate `state`, because the address contains the state.
  state: returnedFields.state.optional().meta(returnedFields.state.meta() ?? {}),
  client_id: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Id of the client, if the provider issues a client of its own.'),
  address: z
    .string()
    .max(8_000)
    .regex(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s/?#]/, 'copy the whole address, with https://')
    .optional()
    .describe('The copied final address of the browser, in place of all other fields.'),
});

const completeModelSignIn = route(`GET ${CALLBACK_PATH}`, {
  id: 'completeModelSignIn',
  summary: 'Complete a sign-in at a model provider',
  description:
    'Takes the query of the provider’s redirect, or the whole address, from the session that began the sign-in. A state is redeemed once, within ten minutes; a repeated return leads to the same account. The account is tried before it is stored. The provider’s error texts are not repeated.',
  auth: 'returning-owner',
  scope: 'connections:write',
  query: returnedQuery,
  success: { data: modelConnection, description: 'The account.' },
  errors: [
    'attempt_expired',
    'forbidden',
    'account_mismatch',
    'provider_disabled',
    'runtime_unavailable',
    'connection_not_found',
    'connection_not_ready',
    'owner_required',
    'project_not_found',
    'provider_error',
  ],
}).to(async ({ access: { userId, sessionId }, by, query, deps }) => {
  const returned = returnedOf(query);
  const connection = await completeOAuthSignIn(deps, { userId, sessionId }, returned, by);
  return { data: presentModelConnection(connection, deps.modelProviders) };
});

export const oauthRoutes: readonly Route[] = [startModelSignIn, completeModelSignIn];

function returnedOf(query: z.output<typeof returnedQuery>): ReturnedParameters {
  if (query.address !== undefined) return readReturnedAddress(query.address);
  if (query.state === undefined) throw new AppError('attempt_expired', 'state: missing; start the sign-in again');
  return {
    state: query.state,
    code: query.code,
    error: query.error,
    iss: query.iss,
    clientId: query.client_id,
  };
}

import { z } from 'zod';
import { connectModelAccountWithKey } from '#core/models/connections/index.ts';
import { nameOf } from '#lib/schemas.ts';
import { route } from '../../route.ts';
import { ownerOf } from './device.ts';
import { modelConnection, modelConnectionId, presentModelConnection, SIGN_IN_ERRORS } from './schemas.ts';

export const connectModelAccountWithApiKey = route({
  method: 'POST',
  path: '/v1/model-connections/provider-c/api-key',
  id: 'connectModelAccountWithApiKey',
  tag: 'Model accounts',
  summary: 'Connect an account at a model provider with an API key',
  description:
    'The key is tried at the provider first, by a request that costs nothing, then stored encrypted and never returned. The same key again renews its connection; with `connectionId` the key of that connection is replaced.',
  auth: 'owner-session',
  mcp: false,
  scope: 'connections:write',
  body: z.strictObject({
    apiKey: z
      .string()
      .min(8)
      .max(4_000)
      .regex(/^[\x21-\x7e]+$/, 'printable ASCII without spaces'),
    accountLabel: nameOf(100)
      .optional()
      .meta({ description: 'Shown to everybody in the project; by default the end of the key.' }),
    connectionId: modelConnectionId.optional(),
  }),
  success: { status: 200, data: modelConnection, description: 'The account.' },
  errors: SIGN_IN_ERRORS,
}).to(async ({ access, by, body, deps }) => {
  const connected = await connectModelAccountWithKey(deps, {
    ...ownerOf(access),
    apiKey: body.apiKey,
    connectionId: body.connectionId ?? null,
    label: body.accountLabel ?? null,
    by,
  });
  return { data: presentModelConnection(connected, deps.modelProviders) };
});

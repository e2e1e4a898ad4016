import { z } from 'zod';
import { component } from '../../http/schemas.ts';
import { CANNOT_CONNECT, type AuthType, type ProviderDescriptor } from '#core/models/providers/index.ts';
import { SLOTS } from '#lib/provider-file/index.ts';
import type { ProjectAccess } from '../../access.ts';
import { present } from '../../http/present.ts';

const AUTH_TYPES = ['managed', 'device_code', 'oauth', 'api_key'] as const satisfies readonly AuthType[];

const viewer = component('ModelProviderViewer', {
  kind: z.enum(['session', 'api_key']),
  userId: z.string().nullable().describe('Id of the person of the session; null for an API key.'),
  canConnect: z.boolean(),
  reason: z
    .strictObject({
      code: z.enum(['managed', 'session_required', 'provider_disabled', 'provider_mismatch', 'runtime_unavailable']),
      message: z.string(),
    })
    .nullable()
    .describe('Why this viewer cannot connect an account.'),
});

export const modelProvider = component('ModelProvider', {
  provider: z.enum(['gateway', ...SLOTS]),
  name: z.string(),
  enabled: z.boolean().describe('True if API and runtime have switched the provider on, with the same file.'),
  authType: z.enum(AUTH_TYPES).describe('The way to connect an account.'),
  billing: z
    .enum(['managed', 'subscription', 'usage'])
    .nullable()
    .describe('Who pays: the operator, or the person by a plan or by use.'),
  terms: z
    .strictObject({
      page: z.string(),
      thirdPartyUse: z.enum(['allowed', 'by_agreement', 'forbidden']),
    })
    .nullable()
    .describe('The page to read before connecting.'),
  documentation: z.string().nullable(),
  keyPage: z.string().nullable().describe('Where a person makes an API key.'),
  viewer,
});

export function presentProvider(descriptor: ProviderDescriptor) {
  const { viewer: seenBy } = descriptor;
  const { reason: code } = seenBy;
  const reason = code === null ? null : { code, message: CANNOT_CONNECT[code] };
  return present(modelProvider, { ...descriptor, viewer: { ...seenBy, reason } });
}

export function viewerOf({ actor }: ProjectAccess) {
  return actor.kind === 'session'
    ? { kind: 'session' as const, userId: actor.userId }
    : { kind: 'api_key' as const, userId: null };
}

import { z } from 'zod';
import { CANNOT_CONNECT, type AuthType, type ProviderDescriptor } from '#core/models/providers/index.ts';
import { SLOTS } from '#lib/provider-file/index.ts';
import type { ProjectAccess } from '../../access.ts';
import { present } from '../../http/present.ts';

const AUTH_TYPES = ['managed', 'device_code', 'oauth', 'api_key'] as const satisfies readonly AuthType[];

const viewer = z
  .strictObject({
    kind: z.enum(['session', 'api_key']),
    userId: z.string().nullable().meta({ description: 'Id of the person of the session; null for an API key.' }),
    canConnect: z.boolean(),
    reason: z
      .strictObject({ code: z.enum(codes()), message: z.string() })
      .nullable()
      .meta({ description: 'Why this viewer cannot connect an account.' }),
  })
  .meta({ id: 'ModelProviderViewer' });

export const modelProvider = z
  .strictObject({
    provider: z.enum(['gateway', ...SLOTS]),
    name: z.string(),
    enabled: z.boolean().meta({ description: 'True if API and runtime have switched it on, with the same file.' }),
    authType: z.enum(AUTH_TYPES).meta({ description: 'The way to connect an account.' }),
    billing: z
      .enum(['managed', 'subscription', 'usage'])
      .nullable()
      .meta({ description: 'Who pays: the operator, or the person by a plan or by use.' }),
    terms: z
      .strictObject({
        page: z.string(),
        thirdPartyUse: z.enum(['allowed', 'by_agreement', 'forbidden']),
      })
      .nullable()
      .meta({ description: 'The page to read before connecting.' }),
    documentation: z.string().nullable(),
    keyPage: z.string().nullable().meta({ description: 'Where a person makes an API key.' }),
    viewer,
  })
  .meta({ id: 'ModelProvider' });

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

type Code = keyof typeof CANNOT_CONNECT;

function codes(): [Code, ...Code[]] {
  return ['managed', 'session_required', 'provider_disabled', 'provider_mismatch', 'runtime_unavailable'];
}

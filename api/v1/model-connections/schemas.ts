import { z } from 'zod';
import {
  MODEL_CONNECTION_ERRORS,
  MODEL_CONNECTION_STATES,
  type ModelConnection,
  type ModelConnectionError,
} from '#core/models/connections/index.ts';
import type { ModelProviders } from '#core/models/providers/index.ts';
import { now } from '#lib/clock.ts';
import { SLOTS } from '#lib/provider-file/index.ts';
import { present } from '../../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, idOf } from '../../http/schemas.ts';

/** Errors of the start of a sign-in, the same for every way to sign in. */
export const SIGN_IN_ERRORS = [
  'provider_disabled',
  'runtime_unavailable',
  'connection_not_found',
  'owner_required',
  'connection_not_ready',
  'account_mismatch',
  'limit_reached',
  'provider_error',
] as const;

export const modelConnectionId = idOf('modelConnection');
export const modelConnectionParams = z.strictObject({ connectionId: modelConnectionId });

const STATUSES = [...MODEL_CONNECTION_STATES, 'provider_disabled'] as const;

const revocation = component('ModelConnectionRevocation', {
  revokedAt: timestamp,
  revokedBy: z.string().nullable().describe('Id of the person who revoked the account.'),
  reason: z.enum(['owner', 'member_removed', 'project_deleted']).nullable(),
  pausedRoutineCount: z.number().int().describe('Number of routines that were paused with the account.'),
  providerRevocation: z
    .enum(['pending', 'revoked', 'unsupported', 'failed'])
    .describe(
      'State of the revocation at the provider (RFC 7009), which is tried for a day; then the credential is erased here anyway.',
    ),
});

export const modelConnection = component('ModelConnection', {
  id: modelConnectionId,
  provider: z.enum(SLOTS),
  providerName: z.string(),
  accountLabel: z.string().meta({
    description: 'Label of the account, safe to show: never a whole address.',
    example: 'a…@example.com',
  }),
  owner: z.strictObject({
    id: z.string(),
    name: z.string().nullable(),
    userId: z.string().meta({ description: 'The same as `id`.', deprecated: true }),
  }),
  status: z.enum(STATUSES).describe('`provider_disabled` while the operator has switched the provider off.'),
  error: z
    .strictObject({ code: z.string(), message: z.string() })
    .nullable()
    .describe('Why the account cannot be used: one of a fixed list.'),
  availableFrom: timestamp.nullable().describe('The allowance of the account is used up until then; routines wait.'),
  modelCount: z.number().int(),
  runCount: z.number().int().describe('Number of runs that used the account.'),
  validatedAt: timestamp.nullable().describe('When the provider last accepted the credential.'),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  revocation: revocation.nullable(),
});

/** @param providers the enabled providers: an account at any other provider cannot be used */
export function presentModelConnection(row: ModelConnection, providers: ModelProviders) {
  const { status, error } = statusOf(row, providers);
  const { revokedAt, notBefore } = row;
  const isWaiting = row.state === 'ready' && notBefore !== null && notBefore.getTime() > now();
  return present(modelConnection, {
    ...row,
    owner: { id: row.ownerId, name: row.ownerName, userId: row.ownerId },
    status,
    error: error === null ? null : { code: error, message: MODEL_CONNECTION_ERRORS[error] },
    availableFrom: isWaiting ? notBefore : null,
    modelCount: status === 'ready' ? row.modelCount : 0,
    revocation:
      revokedAt === null
        ? null
        : {
            ...row,
            revokedAt,
            reason: row.revokedReason,
            pausedRoutineCount: row.pausedRoutineCount ?? 0,
            providerRevocation: row.providerRevocation ?? 'unsupported',
          },
  });
}

function statusOf(
  row: ModelConnection,
  providers: ModelProviders,
): { status: (typeof STATUSES)[number]; error: ModelConnectionError | null } {
  if (row.state === 'revoked') return { status: 'revoked', error: null };
  const provider = providers.find(row.provider);
  if (provider === undefined) return { status: 'provider_disabled', error: 'provider_disabled' };
  if (provider.identity !== row.providerIdentity) {
    return { status: 'needs_reauthorization', error: 'provider_changed' };
  }
  return { status: row.state, error: row.publicError };
}

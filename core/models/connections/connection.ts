import type { ProviderSlot } from '#lib/provider-file/index.ts';

export const MODEL_CONNECTION_STATES = ['ready', 'needs_reauthorization', 'plan_not_entitled', 'revoked'] as const;
export type ModelConnectionState = (typeof MODEL_CONNECTION_STATES)[number];

/** The reasons why an account cannot be used: fixed sentences, so that no provider can write into them. */
export const MODEL_CONNECTION_ERRORS = {
  authorization_revoked: 'The provider no longer accepts the sign-in; connect again.',
  authorization_expired: 'The sign-in has expired and could not be renewed; connect again.',
  credential_rejected: 'The provider no longer accepts the key; connect again.',
  plan_not_entitled: 'The account may sign in, but its plan does not include model calls.',
  provider_changed: 'The operator has replaced this provider with another one; connect an account there.',
  provider_disabled: 'The operator has switched this provider off.',
} as const;
export type ModelConnectionError = keyof typeof MODEL_CONNECTION_ERRORS;

export type RevokedReason = 'owner' | 'member_removed' | 'project_deleted';
export type ProviderRevocation = 'pending' | 'revoked' | 'unsupported' | 'failed';

/** A personal account at a connected provider, as anyone in the project may see it: without its credential. */
export interface ModelConnection {
  readonly id: string;
  readonly projectId: string;
  readonly ownerId: string;
  /** Name of the owner; null once the owner's account is gone. */
  readonly ownerName: string | null;
  readonly provider: ProviderSlot;
  /** Name of the provider when the account was connected. */
  readonly providerName: string;
  /** Identity of the provider to which the credential may be sent; see `providerIdentity`. */
  readonly providerIdentity: string;
  readonly accountLabel: string;
  readonly state: ModelConnectionState;
  readonly publicError: ModelConnectionError | null;
  /** Time until which the allowance is used up. */
  readonly notBefore: Date | null;
  readonly validatedAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly runCount: number;
  readonly modelCount: number;
  readonly catalogueFetchedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  readonly revokedReason: RevokedReason | null;
  readonly pausedRoutineCount: number | null;
  readonly providerRevocation: ProviderRevocation | null;
}

export type ModelConnectionRef = Pick<ModelConnection, 'id' | 'projectId'>;

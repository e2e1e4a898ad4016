import { createRenewals, notRenewed } from '#lib/shared-renewal.ts';
import { AppError } from '#lib/errors.ts';
import type { ModelConnectionRef } from '../connection.ts';
import type { ModelProvider, ModelProviders } from '../providers/providers.ts';
import { callCredential, openCredential } from '../store/credential.ts';
import { markNotReady } from '../store/states.ts';
import { readCredential, type StoredCredential } from './queries.ts';
import { renewCredential, type ModelRenewalDeps } from './renewal.ts';

/** Credential of one call through the runtime. */
export interface CallCredential {
  readonly credential: { readonly value: string; readonly account: string | null };
  /** Tells a credential from the ones that replace it. */
  readonly version: number;
}

/** The credentials of personal accounts, each opened for one call. */
export interface ModelCredentials {
  /**
   * Gives the credential for a call that ends by the deadline (Unix milliseconds), renewed first when it would not
   * last.
   * @throws {AppError} `connection_not_ready` when there is none that works, `provider_disabled`, `provider_error`
   */
  forCall(
    ref: ModelConnectionRef,
    call: { readonly deadline: number; readonly signal: AbortSignal },
  ): Promise<CallCredential>;
  /**
   * Takes note that the provider refused the credential of this version.
   * @returns another to repeat the call with, once; undefined when there is none, and the account is marked then
   */
  refused(
    ref: ModelConnectionRef,
    version: number,
    signal: AbortSignal,
  ): Promise<CallCredential | undefined>;
}

/** Time by which a credential has to outlast its call. */
const MARGIN_MS = 60_000;

export function createModelCredentials(
  deps: ModelRenewalDeps & { readonly modelProviders: ModelProviders },
): ModelCredentials {
  const { database, secrets } = deps;
  const renewals = createRenewals<boolean>();
  const renew = (
    provider: ModelProvider,
    ref: ModelConnectionRef,
    stale: StoredCredential,
    signal: AbortSignal,
  ): Promise<boolean> =>
    renewals(
      `${ref.id} ${stale.version}`,
      () => renewCredential(deps, provider, ref, stale),
      signal,
    );

  const readReady = async (ref: ModelConnectionRef) => {
    const stored = await readCredential(database, ref);
    const provider = deps.modelProviders.find(stored.provider);
    if (provider === undefined) throw new AppError('provider_disabled');
    // It would be sent to a host that it was not meant for.
    if (provider.identity !== stored.providerIdentity || stored.state !== 'ready') {
      throw new AppError('connection_not_ready');
    }
    return { stored, provider, opened: open(ref, stored) };
  };

  const open = (ref: ModelConnectionRef, { sealed }: StoredCredential) => {
    if (sealed === null) throw new AppError('connection_not_ready');
    return openCredential(secrets, ref.id, sealed);
  };

  const current = async (ref: ModelConnectionRef): Promise<CallCredential> => {
    const { stored, opened } = await readReady(ref);
    return { credential: callCredential(opened), version: stored.version };
  };

  return {
    async forCall(ref, { deadline, signal }) {
      const { stored, provider, opened } = await readReady(ref);
      const asIs = { credential: callCredential(opened), version: stored.version };
      const lasts = stored.expiresAt === null || stored.expiresAt.getTime() > deadline + MARGIN_MS;
      // One that cannot be renewed is used until the provider refuses it.
      const isFinal = opened.kind === 'api_key' || opened.refreshToken === null;
      if (lasts || isFinal || (stored.spent && !stored.leased)) return asIs;
      try {
        return (await renew(provider, ref, stored, signal)) ? await current(ref) : asIs;
      } catch (error) {
        const mayPass = error instanceof AppError && error.code === 'provider_error';
        if (mayPass && !stored.expired) return asIs;
        throw error;
      }
    },

    async refused(ref, version, signal) {
      const ready = await orUndefined(readReady(ref));
      if (ready === undefined) return undefined;
      const { stored, provider, opened } = ready;
      // Someone else has renewed it since.
      if (stored.version !== version) return current(ref);
      if (opened.kind === 'api_key') {
        await markNotReady(database, ref, version, 'credential_rejected');
        return undefined;
      }
      if (opened.refreshToken === null || (stored.spent && !stored.leased)) {
        const reason = stored.expired ? 'authorization_expired' : 'authorization_revoked';
        await markNotReady(database, ref, version, reason);
        return undefined;
      }
      const renewed = await orUndefined(renew(provider, ref, stored, signal));
      if (renewed === undefined) return undefined;
      if (renewed) return orUndefined(current(ref));
      throw notRenewed();
    },
  };
}

/** Waits for what a connection that is not ready does not have. */
async function orUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && error.code === 'connection_not_ready') return undefined;
    throw error;
  }
}

import { createHash } from 'node:crypto';
import { AppError } from '#lib/errors.ts';
import {
  loadProviderFiles,
  SLOT_LETTER,
  type LoadedProvider,
  type ProviderFile,
  type ProviderSettings,
  type ProviderSlot,
} from '#lib/provider-file/index.ts';

/** The client that the operator registered at a provider. */
export interface ProviderClientSettings {
  readonly id: string;
  readonly secret: string | undefined;
}

/** A connected provider that is enabled here. */
export interface ModelProvider extends LoadedProvider {
  readonly identity: string;
  /** The operator's client; undefined for a provider that takes keys. */
  readonly client: ProviderClientSettings | undefined;
}

export interface ModelProviders {
  readonly enabled: readonly ModelProvider[];
  /** Finds an enabled provider. */
  find(slot: string): ModelProvider | undefined;
  /** @throws {AppError} `provider_disabled` */
  require(slot: ProviderSlot): ModelProvider;
}

type Letter = (typeof SLOT_LETTER)[ProviderSlot];

export type ModelProviderSettings = ProviderSettings &
  Readonly<Partial<Record<`MODEL_PROVIDER_${Exclude<Letter, 'C'>}_CLIENT_${'ID' | 'SECRET'}`, string | undefined>>>;

/** Reads the connected providers that are enabled here. @throws naming every error of a provider file */
export function loadModelProviders(settings: ModelProviderSettings): ModelProviders {
  const enabled = [...loadProviderFiles(settings).values()].map((loaded) => ({
    ...loaded,
    identity: providerIdentity(loaded.file),
    client: clientOf(settings, loaded.slot),
  }));
  const bySlot = new Map<string, ModelProvider>(enabled.map((each) => [each.slot, each]));
  return {
    enabled,
    find: (slot) => bySlot.get(slot),
    require(slot) {
      const found = bySlot.get(slot);
      if (found === undefined) throw new AppError('provider_disabled');
      return found;
    },
  };
}

function clientOf(settings: ModelProviderSettings, slot: ProviderSlot): ProviderClientSettings | undefined {
  if (slot === 'provider-c') return undefined;
  const letter = SLOT_LETTER[slot];
  const id = settings[`MODEL_PROVIDER_${letter}_CLIENT_ID`];
  return id === undefined ? undefined : { id, secret: settings[`MODEL_PROVIDER_${letter}_CLIENT_SECRET`] };
}

/**
 * Identifies a provider by its hosts; paths may change. An account of another identity is not used, because its
 * credential would go to a wrong host.
 */
function providerIdentity({ auth, api, verify }: ProviderFile): string {
  const issuer = auth.kind === 'api_key' ? null : (auth.issuer ?? originOf(auth.tokenEndpoint));
  const hosts = [auth.kind, issuer, originOf(api.baseUrl)];
  const prover = originOf(verify.baseUrl);
  const isFurther = prover !== null && prover !== originOf(issuer ?? undefined) && !hosts.includes(prover);
  return createHash('sha256')
    .update(JSON.stringify(isFurther ? [...hosts, prover] : hosts))
    .digest('hex');
}

function originOf(url: string | undefined): string | null {
  return url === undefined ? null : new URL(url).origin;
}

import { AUTH_KIND, type ProviderFile, SLOTS, type ProviderSlot } from '#lib/provider-file/index.ts';
import type { ModelProviders } from './providers.ts';
import type { ModelRuntime } from './runtime.ts';

/** The person or API key that asks for the descriptions. */
export interface ProviderViewer {
  readonly kind: 'session' | 'api_key';
  readonly userId: string | null;
}

export type AuthType = 'managed' | ProviderFile['auth']['kind'];

/** Lists the reasons why a viewer cannot connect an account. */
export const CANNOT_CONNECT = {
  managed: 'The operator holds this account; there is nothing to connect.',
  session_required: 'A person connects their own account, in a browser session.',
  provider_disabled: 'The operator has switched this provider off.',
  provider_mismatch:
    'The service and its provider runtime have different files of this provider. The operator has to give the same file to both.',
  runtime_unavailable: 'The provider runtime cannot be reached just now.',
} as const;

export interface ProviderDescriptor {
  readonly provider: 'gateway' | ProviderSlot;
  readonly name: string;
  readonly enabled: boolean;
  readonly authType: AuthType;
  readonly billing: 'managed' | ProviderFile['billing'] | null;
  readonly terms: ProviderFile['terms'] | null;
  readonly documentation: string | null;
  readonly keyPage: string | null;
  readonly viewer: ProviderViewer & {
    readonly canConnect: boolean;
    readonly reason: keyof typeof CANNOT_CONNECT | null;
  };
}

interface DescriptorDeps {
  readonly modelProviders: ModelProviders;
  readonly modelRuntime: ModelRuntime | undefined;
}

/** Describes the managed gateway and the three connected providers, including disabled ones. */
export async function describeProviders(deps: DescriptorDeps, viewer: ProviderViewer): Promise<ProviderDescriptor[]> {
  const connected = await Promise.all(SLOTS.map((slot) => describeProvider(deps, slot, viewer)));
  return [
    {
      provider: 'gateway',
      name: 'Models of this service',
      enabled: true,
      authType: 'managed',
      billing: 'managed',
      terms: null,
      documentation: null,
      keyPage: null,
      viewer: { ...viewer, canConnect: false, reason: 'managed' },
    },
    ...connected,
  ];
}

export async function describeProvider(
  deps: DescriptorDeps,
  slot: ProviderSlot,
  viewer: ProviderViewer,
): Promise<ProviderDescriptor> {
  const loaded = deps.modelProviders.find(slot);
  const status =
    loaded === undefined ? 'provider_disabled' : ((await deps.modelRuntime?.status(loaded)) ?? 'runtime_unavailable');
  const reason = status !== 'ready' ? status : viewer.kind === 'api_key' ? 'session_required' : null;
  const file = loaded?.file;
  return {
    provider: slot,
    name: file?.name ?? slot,
    enabled: status !== 'provider_disabled' && status !== 'provider_mismatch',
    authType: AUTH_KIND[slot],
    billing: file?.billing ?? null,
    terms: file?.terms ?? null,
    documentation: file?.documentation ?? null,
    keyPage: file?.auth.kind === 'api_key' ? file.auth.keyPage : null,
    viewer: { ...viewer, canConnect: reason === null, reason },
  };
}

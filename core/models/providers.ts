import type { ModelProvider } from './model.ts';

export interface ProviderFlags {
  readonly MODEL_PROVIDER_A_ENABLED: boolean;
  readonly MODEL_PROVIDER_B_ENABLED: boolean;
  readonly MODEL_PROVIDER_C_ENABLED: boolean;
}

/** Returns the check whether a provider may take new work: the gateway always, each connected one by its own flag. */
export function providerSwitch(flags: ProviderFlags): (provider: string) => boolean {
  const enabled: Record<ModelProvider, boolean> = {
    gateway: true,
    'provider-a': flags.MODEL_PROVIDER_A_ENABLED,
    'provider-b': flags.MODEL_PROVIDER_B_ENABLED,
    'provider-c': flags.MODEL_PROVIDER_C_ENABLED,
  };
  const byName = new Map<string, boolean>(Object.entries(enabled));
  return (provider) => byName.get(provider) ?? false;
}

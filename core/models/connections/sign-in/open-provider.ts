import type { ModelProvider, ModelRuntime } from '#core/models/providers/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import type { AccountsCore } from '../core.ts';

/** A provider that takes new accounts, and the runtime that tries them. */
export interface OpenProvider {
  readonly provider: ModelProvider;
  readonly runtime: ModelRuntime;
}

/**
 * Checks that API and runtime have enabled a provider with the same file, before a sign-in begins.
 * @throws {AppError} `provider_disabled`, `runtime_unavailable`
 */
export async function openProvider(
  { modelProviders, modelRuntime }: Pick<AccountsCore, 'modelProviders' | 'modelRuntime'>,
  slot: ProviderSlot,
): Promise<OpenProvider> {
  const provider = modelProviders.require(slot);
  if (modelRuntime === undefined) throw new AppError('runtime_unavailable');
  await modelRuntime.requireProvider(provider);
  return { provider, runtime: modelRuntime };
}

/** Returns the operator's client at a provider that people sign in to. @throws {AppError} `provider_disabled` */
export function clientIdOf({ client }: ModelProvider): string {
  if (client === undefined) throw new AppError('provider_disabled');
  return client.id;
}

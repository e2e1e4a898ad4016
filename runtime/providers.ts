import { readFileSync } from 'node:fs';
import type { ConfigOf } from '#lib/config/index.ts';
import {
  readProviderFile,
  SLOT_LETTER,
  SLOTS,
  type LoadedProvider,
  type ProviderSlot,
} from '#lib/provider-file/index.ts';

/** Reads the file of each provider that is enabled here. @throws naming the variable and every error of its file */
export function readProviders(
  config: ConfigOf<'runtime'>,
): ReadonlyMap<ProviderSlot, LoadedProvider> {
  const loaded = new Map<ProviderSlot, LoadedProvider>();
  for (const slot of SLOTS) {
    const letter = SLOT_LETTER[slot];
    const file = config[`MODEL_PROVIDER_${letter}_FILE`];
    if (!config[`MODEL_PROVIDER_${letter}_ENABLED`] || file === undefined) continue;
    const termsAccepted = config[`MODEL_PROVIDER_${letter}_TERMS_ACCEPTED`];
    loaded.set(slot, readProviderFile(slot, readFileSync(file), { termsAccepted }));
  }
  return loaded;
}

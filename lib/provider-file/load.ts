import { readFileSync } from 'node:fs';
import { readProviderFile, type LoadedProvider } from './read.ts';
import { SLOT_LETTER, SLOTS, type ProviderSlot } from './slots.ts';

type Letter = (typeof SLOT_LETTER)[ProviderSlot];

/** The variables of connected providers that API, workers and runtime have in common. */
export type ProviderSettings = Readonly<
  Record<`MODEL_PROVIDER_${Letter}_ENABLED`, boolean> &
    Partial<Record<`MODEL_PROVIDER_${Letter}_FILE`, string | undefined>> &
    Record<`MODEL_PROVIDER_${Letter}_TERMS_ACCEPTED`, boolean>
>;

/** Reads the file of each provider that is enabled here. @throws naming the variable and every error of its file */
export function loadProviderFiles(
  settings: ProviderSettings,
): ReadonlyMap<ProviderSlot, LoadedProvider> {
  const loaded = new Map<ProviderSlot, LoadedProvider>();
  for (const slot of SLOTS) {
    const letter = SLOT_LETTER[slot];
    const file = settings[`MODEL_PROVIDER_${letter}_FILE`];
    if (!settings[`MODEL_PROVIDER_${letter}_ENABLED`] || file === undefined) continue;
    const termsAccepted = settings[`MODEL_PROVIDER_${letter}_TERMS_ACCEPTED`];
    loaded.set(slot, readProviderFile(slot, readFileSync(file), { termsAccepted }));
  }
  return loaded;
}

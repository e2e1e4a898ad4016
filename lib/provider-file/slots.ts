/** The three connected providers. Each signs people in its own way: device code, OAuth, API key. */
export const SLOTS = ['provider-a', 'provider-b', 'provider-c'] as const;

export type ProviderSlot = (typeof SLOTS)[number];

/** The letter of a slot in the names of variables: `MODEL_PROVIDER_<letter>_FILE`. */
export const SLOT_LETTER = { 'provider-a': 'A', 'provider-b': 'B', 'provider-c': 'C' } as const;

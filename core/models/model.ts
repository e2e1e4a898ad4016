import type { Prices } from '#core/usage/index.ts';
import type { ModelAbilities, ServedModel } from './abilities.ts';

/** A routine's choice of model. `connectionId` is null for the managed gateway and exact for a personal account. */
export interface ModelReference {
  readonly provider: ModelProvider;
  readonly connectionId: string | null;
  readonly modelId: string;
}

export const MODEL_PROVIDERS = ['gateway', 'provider-a', 'provider-b', 'provider-c'] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

export function isModelProvider(name: string): name is ModelProvider {
  return MODEL_PROVIDERS.some((provider) => provider === name);
}

/** Prices exactly as the gateway quotes them. */
export type ModelPrices = Prices;

/** A model that a routine can run on. The same model id on two accounts is two options. */
export interface ModelOption extends ModelReference {
  readonly name: string;
  readonly contextTokens: number | null;
  /** The most tokens that it writes in one response; null when the gateway does not say. */
  readonly maxOutputTokens: number | null;
  /** What its server takes, as its list, its dialect or earlier calls say. */
  readonly abilities: ModelAbilities;
  /** The model at its server; null on an account, whose runtime knows it. */
  readonly served: ServedModel | null;
  /** Null when the gateway quotes none; runs on the model then have no cost figure. */
  readonly prices: ModelPrices | null;
}

export function sameModel(a: ModelReference, b: ModelReference): boolean {
  return a.provider === b.provider && a.connectionId === b.connectionId && a.modelId === b.modelId;
}

/** A routine's choice of model. `connectionId` is null for the managed gateway and exact for a personal account. */
export interface ModelReference {
  readonly provider: ModelProvider;
  readonly connectionId: string | null;
  readonly modelId: string;
}

export const MODEL_PROVIDERS = ['gateway', 'provider-a', 'provider-b', 'provider-c'] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** US dollars a token, as decimal strings, exactly as the gateway quotes them. */
export interface ModelPrices {
  readonly input: string;
  readonly output: string;
  readonly cachedInput: string | null;
}

/** One thing a routine can run on. The same model id on two accounts is two options. */
export interface ModelOption extends ModelReference {
  readonly name: string;
  readonly contextTokens: number | null;
  /** Null where the gateway quotes none; a run on it then has no cost figure. */
  readonly prices: ModelPrices | null;
}

export function sameModel(a: ModelReference, b: ModelReference): boolean {
  return a.provider === b.provider && a.connectionId === b.connectionId && a.modelId === b.modelId;
}

import type { ModelAbilities, ServedModel } from '#core/clients/gateway/index.ts';
import type { Prices } from '#core/foundation/cost/index.ts';
import { SLOT_LETTER, SLOTS, type ProviderSettings } from '#lib/provider-file/index.ts';

/** A routine's choice of model. `connectionId` names a personal account; null for a model source. */
export interface ModelReference {
  readonly provider: ModelProvider;
  readonly connectionId: string | null;
  readonly modelId: string;
}

export const MODEL_PROVIDERS = ['gateway', ...SLOTS] as const;
type ModelProvider = (typeof MODEL_PROVIDERS)[number];

export function isModelProvider(name: string): name is ModelProvider {
  return MODEL_PROVIDERS.some((provider) => provider === name);
}

/**
 * Origins of a figure; the first with a value counts: the server's own list, the operator's file, the free server, a
 * refusal of the server, the organization's entry, the catalogue of the service.
 */
export const FIGURE_ORIGINS = ['list', 'operator', 'local', 'learned', 'by_hand', 'catalogue'] as const;
export type FigureOrigin = (typeof FIGURE_ORIGINS)[number];

/** Figures of a model that measure and price its steps; null when unknown. */
export interface Figures {
  readonly contextTokens: number | null;
  /** The most tokens that the model writes in one response. */
  readonly maxOutputTokens: number | null;
  /** Runs on a model without prices have no cost. */
  readonly prices: Prices | null;
}

/** The origin of each figure; null when unknown. */
type Origins = { readonly [Name in keyof Figures]: FigureOrigin | null };

/** A model that a routine can run on. The same model id on two accounts is two options. */
export interface ModelOption extends ModelReference, Figures {
  readonly name: string;
  /** Abilities of the server for this model, known from its model list, its dialect and earlier calls. */
  readonly abilities: ModelAbilities;
  /** The model at its server; null for a model of an account, which the provider runtime calls. */
  readonly served: ServedModel | null;
  readonly origins: Origins;
}

export function sameModel(a: ModelReference, b: ModelReference): boolean {
  return a.provider === b.provider && a.connectionId === b.connectionId && a.modelId === b.modelId;
}

/** Figures from one origin; some may be missing. */
export type SomeFigures = { readonly [Name in keyof Figures]?: Figures[Name] | undefined };

/** An organization that looks for models. */
export interface Looking {
  readonly organizationId: string;
  /** Returns the figures that the organization entered for a model. */
  byHand(model: ServedModel): SomeFigures | undefined;
}

interface Completed {
  readonly figures: Figures;
  readonly origins: Origins;
}

/** Completes figures by origin: of each figure, the first known value counts. */
export function firstKnown(candidates: readonly (readonly [FigureOrigin, SomeFigures])[]): Completed {
  const first = <Name extends keyof Figures>(name: Name) => {
    for (const [origin, { [name]: figure }] of candidates) {
      if (figure !== undefined && figure !== null) return { figure, origin };
    }
    return { figure: null, origin: null };
  };
  const [contextTokens, maxOutputTokens, prices] = [first('contextTokens'), first('maxOutputTokens'), first('prices')];
  return {
    figures: { contextTokens: contextTokens.figure, maxOutputTokens: maxOutputTokens.figure, prices: prices.figure },
    origins: { contextTokens: contextTokens.origin, maxOutputTokens: maxOutputTokens.origin, prices: prices.origin },
  };
}

/**
 * Returns a function that tells whether a provider may take new work. The gateway always may; a connected provider has
 * its own flag.
 */
export function providerSwitch(settings: ProviderSettings): (provider: string) => boolean {
  const connected = SLOTS.filter((slot) => settings[`MODEL_PROVIDER_${SLOT_LETTER[slot]}_ENABLED`]);
  const enabled = new Set<string>(['gateway', ...connected]);
  return (provider) => enabled.has(provider);
}

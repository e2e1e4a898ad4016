import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { Big } from 'big.js';
import { LRUCache } from 'lru-cache';
import type { ModelDialect } from '#lib/config/index.ts';
import type { SomeFigures } from './figures.ts';

/** Providers of the catalogue by dialect. A server of one's own has none: a wrong price is worse than no price. */
const PROVIDERS: Partial<Record<ModelDialect, string>> = {
  openai: 'openai',
  azure: 'azure',
  anthropic: 'anthropic',
  gemini: 'google',
  mistral: 'mistral',
  groq: 'groq',
  openrouter: 'openrouter',
};

/** A look-up of an unknown id compares it with every model; some prices change on a date that the catalogue knows. */
const known = new LRUCache<string, SomeFigures>({ max: 20_000, ttl: 60 * 60 * 1_000 });

/**
 * Looks up window and prices of a model in the catalogue that ships with the service.
 * @param server its dialect, and its address, by which the hosts of other providers are found
 */
export function catalogueFigures(
  server: { readonly dialect: ModelDialect; readonly baseUrl: string },
  modelId: string,
): SomeFigures {
  const providerId =
    server.dialect === 'other'
      ? findProvider({ providerApiUrl: server.baseUrl })?.id
      : PROVIDERS[server.dialect];
  if (providerId === undefined) return {};
  const key = `${providerId}\n${modelId}`;
  const found = known.get(key) ?? lookUp(providerId, modelId);
  known.set(key, found);
  return found;
}

function lookUp(providerId: string, modelId: string): SomeFigures {
  // One token of each, as a model without a price for its output is none that writes text.
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, modelId, { providerId });
  if (found === null) return {};
  const { model, model_price: price } = found;
  const input = perToken(price['input_mtok']);
  const output = perToken(price['output_mtok']);
  return {
    contextTokens: model.context_window,
    prices:
      input === undefined || output === undefined
        ? undefined
        : { input, output, cachedInput: perToken(price['cache_read_mtok']) ?? null },
  };
}

type Quoted =
  ReturnType<typeof calcPrice> extends null | { model_price: Record<string, infer P> } ? P : never;

/** Converts a price of a million tokens. Of a price by the length of the prompt the first tier is taken. */
function perToken(quoted: Quoted): string | undefined {
  const price = typeof quoted === 'object' ? quoted.base : quoted;
  return price === undefined ? undefined : new Big(price).div(1_000_000).toFixed();
}
